/* A rendering: its bounds, its variables, the functions that templates find there. */
#include "priv.h"

#include <stdarg.h>
#include <string.h>

enum { DEEPEST_RUN = 2000 };

struct jv jv_fail(struct env *e, const char *format, ...)
{
	char reason[448];
	va_list ap;

	if (e->failed)
		return jv_error();
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	why(e->w, "template line %d: %s", e->line, reason);
	e->failed = true;
	return jv_error();
}

struct jv jv_full(struct env *e)
{
	return jv_fail(e, "needs more memory than the %zu MiB it may have", e->arena.limit >> 20);
}

int jinja_tick(struct env *e, uint64_t steps)
{
	if (steps <= (uint64_t)e->steps) {
		e->steps -= (int64_t)steps;
		return 0;
	}
	e->steps = 0;
	jv_fail(e, "takes too many steps");
	return -1;
}

int jinja_deeper(struct env *e)
{
	if (e->depth >= e->depth_max) {
		jv_fail(e, "nested too deeply");
		return -1;
	}
	e->depth++;
	return 0;
}

struct bytes jinja_buffer(struct env *e)
{
	return (struct bytes){ .limit = e->arena.limit };
}

static struct jv g_range(struct env *e, struct call *c)
{
	struct jv_range *r = arena_array(&e->arena, 1, sizeof *r);
	int64_t stop;

	if (!r)
		return jv_full(e);
	for (int i = 0; i < 3; i++)
		if (c->arg[i].kind == JV_NONE)
			return jv_fail(e, "'NoneType' object cannot be interpreted as an integer");
	if (jinja_arg_int(e, c, 0, 0, &r->start) || jinja_arg_int(e, c, 1, 0, &stop) || jinja_arg_int(e, c, 2, 1, &r->step))
		return jv_error();
	if (c->arg[1].kind == JV_ABSENT) {
		stop = r->start;
		r->start = 0;
	}
	if (!r->step)
		return jv_fail(e, "range() arg 3 must not be zero");
	if (r->step > 0 ? r->start < stop : r->start > stop) {
		uint64_t distance = r->step > 0 ? (uint64_t)stop - (uint64_t)r->start : (uint64_t)r->start - (uint64_t)stop;
		uint64_t step = r->step > 0 ? (uint64_t)r->step : -(uint64_t)r->step;
		uint64_t n = (distance - 1) / step + 1;

		if (n > JINJA_RANGE_MAX)
			return jv_fail(e, "Range too big. The sandbox blocks ranges larger than %d.", JINJA_RANGE_MAX);
		r->n = (int64_t)n;
	}
	return (struct jv){ .kind = JV_RANGE, .range = r };
}

static struct jv g_dict(struct env *e, struct call *c)
{
	struct jv d = jv_dict(e, JV_DICT);

	return d.kind == JV_ERROR || jinja_fill_dict(e, d.dict, c) ? jv_error() : d;
}

static struct jv g_namespace(struct env *e, struct call *c)
{
	struct jv d = jv_dict(e, JV_NAMESPACE);

	return d.kind == JV_ERROR || jinja_fill_dict(e, d.dict, c) ? jv_error() : d;
}

static struct jv g_raise_exception(struct env *e, struct call *c)
{
	struct jv message = jv_to_str(e, c->arg[0]);

	if (message.kind == JV_ERROR)
		return message;
	return jv_fail(e, "%.*s", message.n > 400 ? 400 : (int)message.n, message.n ? message.s : "");
}

/* Python's datetime.now().strftime(): microseconds for %f, and nothing for the zones %z and %Z, which it does not know. */
static struct jv g_strftime_now(struct env *e, struct call *c)
{
	struct timespec t = { 0 };
	struct jv f, out;
	struct tm now;
	char *format, *p, *text;
	size_t n = 0;

	if (jinja_arg_str(e, c, 0, jv_str("", 0), &f))
		return jv_error();
	f.n = (uint32_t)(f.n ? strnlen(f.s, f.n) : 0);
	if (jinja_tick(e, f.n) || !(p = format = arena_text(&e->arena, (size_t)f.n * 3 + 1)))
		return jv_full(e);
	if (e->now)
		now = *e->now;
	else if (clock_gettime(CLOCK_REALTIME, &t) || !localtime_r(&t.tv_sec, &now))
		return jv_fail(e, "strftime_now: there is no local time");
	for (uint32_t i = 0, after; i < f.n; i = after) {
		after = i + 1;
		while (f.s[i] == '%' && after < f.n && f.s[after] && strchr("_-0^#123456789", f.s[after]))
			after++;
		if (f.s[i] == '%' && after < f.n)
			after++;
		if (after == i + 2 && f.s[i + 1] == 'f')
			p += sprintf(p, "%06ld", t.tv_nsec / 1000);
		else if (after == i + 1 || (f.s[after - 1] != 'z' && f.s[after - 1] != 'Z'))
			for (; i < after; i++)
				*p++ = f.s[i];
	}
	*p = '\0';
	for (size_t room = 1024; !n && *format; room *= 2) {
		text = arena_text(&e->arena, room);
		if (!text || jinja_tick(e, room / 8))
			return jv_full(e);
		n = strftime(text, room, format, &now);
		out = jv_str(text, n);
		if (room >= 256 * strlen(format))
			break;
	}
	return n ? out : jv_str("", 0);
}

static struct jv joined(struct env *e, struct call *c)
{
	struct jv_list *state = c->self.list;
	struct jv out = state->items[state->n > 1];

	if (state->n == 1)
		return out;
	state->items[0] = state->items[1];
	state->n = 1;
	return jv_str("", 0);
}

/* A joiner gives "" when it is first called and its separator from then on: a list of two on which that can be seen. */
static struct jv g_joiner(struct env *e, struct call *c)
{
	static const struct builtin call = { "joiner", joined, "" };
	struct jv state = jv_pair_of(e, jv_none(), c->arg[0].kind == JV_ABSENT ? jv_str(", ", 2) : c->arg[0]);
	struct jv_method *m = arena_alloc(&e->arena, sizeof *m);

	if (!m || state.kind == JV_ERROR)
		return jv_full(e);
	*m = (struct jv_method){ state, &call };
	return (struct jv){ .kind = JV_METHOD, .method = m };
}

const struct builtin jinja_globals[] = {
	{ "dict", g_dict, NULL }, { "joiner", g_joiner, "?sep" }, { "namespace", g_namespace, NULL },
	{ "raise_exception", g_raise_exception, "message" }, { "range", g_range, "start ?stop step" },
	{ "strftime_now", g_strftime_now, "format" },
	{ 0 },
};

static size_t text_size(const struct json *v)
{
	size_t n = v->key_n + (v->type == JSON_STRING ? v->n : 8);

	for (const struct json *c = v->child; c; c = c->next)
		n += text_size(c);
	return n;
}

/* The template's own spelling of the name, or NULL: then nothing in it can ask for it. */
static const struct name *known_name(const struct jinja *t, const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof t->names / sizeof *t->names; i++)
		for (const struct name *name = t->names[i]; name; name = name->next)
			if (name->n == n && !memcmp(name->s, s, n))
				return name;
	return NULL;
}

static int set_variables(struct env *e, const struct json *variables)
{
	for (const struct json *m = variables->child; m; m = m->next) {
		const struct name *name = known_name(e->t, m->key, m->key_n);
		struct jv v;

		if (!name)
			continue;
		v = jv_from_json(e, m);
		if (v.kind == JV_ERROR || jinja_set(e, name, v))
			return -1;
	}
	return 0;
}

int jinja_render(const struct jinja *t, const struct json *variables, const struct jinja_options *o, struct bytes *out, struct why *w)
{
	static const struct jinja_options none;
	size_t size = text_size(variables), n = out->n;
	struct env e = { .t = t, .w = w, .out = out, .line = 1, .depth_max = jinja_depth(DEEPEST_RUN) };
	int failed;

	o = o ? o : &none;
	e.now = o->now;
	e.arena.limit = o->memory ? o->memory : ((size_t)16 << 20) + 32 * size;
	e.steps = (int64_t)(o->steps ? o->steps : 3000000 + 64 * (uint64_t)size);
	failed = !jinja_push_scope(&e, NULL) || set_variables(&e, variables) || !jinja_push_scope(&e, e.scope) || jinja_exec(&e, t->body);
	arena_free(&e.arena);
	if (failed)
		out->n = n;
	return failed ? -1 : 0;
}
