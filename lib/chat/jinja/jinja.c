/* A rendering: its bounds and its variables. */
#include "interpreter.h"

#include <string.h>

enum { DEEPEST_RUN = 2000 };

static size_t text_size(const struct json *v)
{
	size_t n = v->key_n + (v->type == JSON_STRING ? v->n : 8);

	for (const struct json *c = v->child; c; c = c->next)
		n += text_size(c);
	return n;
}

/* The template's own name object, or NULL: then nothing in it can refer to the variable. */
static const struct name *known_name(const struct jinja *t, const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof t->names / sizeof *t->names; i++)
		for (const struct name *name = t->names[i]; name; name = name->next)
			if (name->text.n == n && !memcmp(name->text.s, s, n))
				return name;
	return NULL;
}

static int render(struct env *e, const struct json *variables)
{
	if (setjmp(e->failed))
		return -1;
	scope_push(e, NULL);
	for (const struct json *m = variables->child; m; m = m->next) {
		const struct name *name = known_name(e->t, m->key, m->key_n);

		if (name)
			scope_set(e, name, jv_from_json(e, m));
	}
	scope_push(e, e->scope);
	exec(e, e->t->body);
	return 0;
}

int jinja_render(const struct jinja *t, const struct json *variables, const struct jinja_options *o, struct bytes *out,
	struct why *w)
{
	static const struct jinja_options defaults;
	size_t size = text_size(variables), n = out->n, limit = out->limit;
	struct arena arena = { 0 };
	struct env e = { .arena = &arena, .why = w, .line = 1, .depth_max = env_depth(DEEPEST_RUN), .out = out,
		.t = t };
	int failed;

	o = o ? o : &defaults;
	e.now = o->now;
	arena.limit = o->memory ? o->memory : ((size_t)16 << 20) + 32 * size;
	e.steps = (int64_t)(o->steps ? o->steps : 3000000 + 64 * (uint64_t)size);
	if (arena.limit < limit - n)
		out->limit = n + arena.limit;
	failed = render(&e, variables);
	out->limit = limit;
	arena_free(&arena);
	if (failed)
		out->n = n;
	return failed;
}
