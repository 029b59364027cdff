/* Calls: who is called, and which argument is which. */
#include "priv.h"

#include <string.h>

const struct builtin *jinja_find(const struct builtin *table, const char *s, size_t n)
{
	for (; table->name; table++)
		if (!strncmp(table->name, s, n) && !table->name[n])
			return table;
	return NULL;
}

const struct builtin *jinja_find_filter(const char *s, size_t n)
{
	const struct builtin *b = jinja_find(jinja_text_filters, s, n);

	b = b ? b : jinja_find(jinja_list_filters, s, n);
	return b ? b : jinja_find(jinja_more_filters, s, n);
}

const struct builtin *jinja_find_method(struct jv object, const char *s, size_t n)
{
	switch (object.kind) {
	case JV_STR:
		return jinja_find(jinja_str_methods, s, n);
	case JV_LIST:
		return jinja_find(jinja_list_methods, s, n);
	case JV_TUPLE:
		return jinja_find(jinja_tuple_methods, s, n);
	case JV_DICT:
		return jinja_find(jinja_dict_methods, s, n);
	case JV_LOOP:
		return jinja_find(jinja_loop_methods, s, n);
	}
	return NULL;
}

/* Which of the space-separated names s[n] is; -1 if none. */
static int place_of(const char *names, const char *s, size_t n)
{
	for (int i = 0; *names; i++) {
		size_t len;

		names += *names == '?';
		len = strcspn(names, " ");
		if (len == n && !memcmp(names, s, n))
			return i;
		names += len;
		names += *names == ' ';
	}
	return -1;
}

/* How many names there are, and how many before the first '?'. */
static void count_names(const char *names, uint32_t *all, uint32_t *needed)
{
	const char *optional = strchr(names, '?');

	*all = *needed = *names != '\0';
	for (const char *p = names; *p; p++)
		*all += *p == ' ';
	*needed = *all;
	if (optional) {
		*needed = 0;
		for (const char *p = names; p < optional; p++)
			*needed += *p == ' ';
	}
}

static int sort_arguments(struct env *e, const struct builtin *b, struct call *c)
{
	uint32_t all, needed;

	count_names(b->params, &all, &needed);
	if (c->n_pos > all)
		return jv_fail(e, "%s() takes at most %u arguments (%u given)", b->name, all, c->n_pos), -1;
	for (uint32_t i = 0; i < JINJA_ARGS; i++)
		c->arg[i] = i < c->n_pos ? c->pos[i] : (struct jv){ .kind = JV_ABSENT };
	for (uint32_t i = 0; i < c->n_kw; i++) {
		int at = place_of(b->params, c->kw[i].s, c->kw[i].n);

		if (at < 0)
			return jv_fail(e, "%s() got an unexpected keyword argument '%.*s'", b->name, c->kw[i].n > 64 ? 64 : (int)c->kw[i].n, c->kw[i].s), -1;
		if (c->arg[at].kind != JV_ABSENT)
			return jv_fail(e, "%s() got multiple values for an argument", b->name), -1;
		c->arg[at] = c->kw[i].value;
	}
	for (uint32_t i = 0; i < needed; i++)
		if (c->arg[i].kind == JV_ABSENT)
			return jv_fail(e, "%s() is missing an argument", b->name), -1;
	return 0;
}

struct jv jinja_run(struct env *e, const struct builtin *b, struct call *c)
{
	struct jv v = jv_error();

	c->name = b->name;
	if (jinja_deeper(e))
		return v;
	if (!b->params || !sort_arguments(e, b, c))
		v = b->run(e, c);
	e->depth--;
	return v;
}

/* The named argument, marked as used; NULL if it was not given. */
static const struct kwarg *take_kwarg(const struct call *c, const struct name *name, bool *used)
{
	for (uint32_t i = 0; i < c->n_kw; i++) {
		if (c->kw[i].n == name->n && !memcmp(c->kw[i].s, name->s, name->n)) {
			used[i] = true;
			return &c->kw[i];
		}
	}
	return NULL;
}

/* Parameters that were given, in the new scope; then the defaults, which may speak of them. */
static int bind_parameters(struct env *e, const struct jv_macro *m, const struct call *c, bool *used)
{
	uint32_t i = 0;

	for (const struct node *p = m->node->a; p; p = p->next, i++) {
		const struct kwarg *kw = take_kwarg(c, p->name, used);
		struct jv v;

		if (kw && i < c->n_pos)
			return jv_fail(e, "macro '%.*s' got multiple values for an argument", (int)m->node->name->n, m->node->name->s), -1;
		if (kw || i < c->n_pos)
			v = kw ? kw->value : c->pos[i];
		else if (p->a)
			v = jinja_eval(e, p->a);
		else
			v = jv_undefined(e, JV_ABSENT, p->name->s, p->name->n);
		if (v.kind == JV_ERROR || jinja_set(e, p->name, v))
			return -1;
	}
	return 0;
}

/* caller, varargs and kwargs, where the macro speaks of them; else their like is refused. */
static int bind_rest(struct env *e, const struct jv_macro *m, const struct call *c, bool *used)
{
	const struct name *name = m->node->name;
	uint32_t n = 0;
	struct jv v;

	for (const struct node *p = m->node->a; p; p = p->next)
		n++;
	if (m->node->op & MACRO_CALLER) {
		const struct kwarg *kw = take_kwarg(c, e->t->caller, used);

		v = kw ? kw->value : jv_undefined_hint(e, "No caller defined");
		if (v.kind == JV_ERROR || jinja_set(e, e->t->caller, v))
			return -1;
	}
	if (m->node->op & MACRO_VARARGS) {
		v = jv_list(e, JV_TUPLE, 0);
		for (uint32_t i = n; i < c->n_pos && v.kind != JV_ERROR; i++)
			if (jv_push(e, v.list, c->pos[i]))
				return -1;
		if (v.kind == JV_ERROR || jinja_set(e, e->t->varargs, v))
			return -1;
	} else if (c->n_pos > n) {
		return jv_fail(e, "macro '%.*s' takes not more than %u argument(s)", (int)name->n, name->s, n), -1;
	}
	v = jv_dict(e, JV_DICT);
	for (uint32_t i = 0; i < c->n_kw && v.kind != JV_ERROR; i++) {
		if (used[i])
			continue;
		if (!(m->node->op & MACRO_KWARGS))
			return jv_fail(e, "macro '%.*s' takes no keyword argument '%.*s'", (int)name->n, name->s, c->kw[i].n > 64 ? 64 : (int)c->kw[i].n, c->kw[i].s), -1;
		if (jv_dict_set(e, v.dict, jv_str(c->kw[i].s, c->kw[i].n), c->kw[i].value))
			return -1;
	}
	if (v.kind == JV_ERROR || (m->node->op & MACRO_KWARGS && jinja_set(e, e->t->kwargs, v)))
		return -1;
	return 0;
}

static struct jv call_macro(struct env *e, const struct jv_macro *m, const struct call *c)
{
	struct scope *outer = e->scope;
	bool *used = arena_array(&e->arena, c->n_kw, sizeof *used);
	struct jv out = jv_error();

	if (!used)
		return jv_full(e);
	if (jinja_deeper(e) || !jinja_push_scope(e, m->scope))
		return jv_error();
	if (!bind_parameters(e, m, c, used) && !bind_rest(e, m, c, used))
		out = jinja_capture(e, m->node->b);
	jinja_pop_scope(e, outer);
	e->depth--;
	return out;
}

struct jv jinja_call(struct env *e, struct jv callee, struct call *c)
{
	switch (callee.kind) {
	case JV_BUILTIN:
		return jinja_run(e, callee.builtin, c);
	case JV_METHOD:
		c->self = callee.method->self;
		return jinja_run(e, callee.method->builtin, c);
	case JV_MACRO:
		return call_macro(e, callee.macro, c);
	case JV_LOOP:
		if (c->n_pos != 1)
			return jv_fail(e, "loop() takes one argument");
		return jinja_loop_call(e, callee.loop, c->pos[0]);
	case JV_UNDEF:
		return jv_fail_undefined(e, callee);
	}
	return jv_fail(e, "'%s' object is not callable", jv_type(callee));
}

struct jv jinja_filter(struct env *e, const char *s, size_t n, struct call *c)
{
	const struct builtin *b = jinja_find_filter(s, n);

	if (!b)
		return jv_fail(e, "No filter named '%.*s'.", n > 64 ? 64 : (int)n, s);
	return jinja_run(e, b, c);
}

int jinja_test(struct env *e, const char *s, size_t n, struct call *c)
{
	const struct builtin *b = jinja_find(jinja_tests, s, n);
	struct jv v;

	if (!b)
		return jv_fail(e, "No test named '%.*s'.", n > 64 ? 64 : (int)n, s), -1;
	v = jinja_run(e, b, c);
	return v.kind == JV_ERROR ? -1 : jv_true(v);
}

int jinja_arg_int(struct env *e, const struct call *c, int i, int64_t absent, int64_t *out)
{
	struct jv v = c->arg[i];

	*out = absent;
	if (v.kind == JV_ABSENT || v.kind == JV_NONE)
		return 0;
	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v), -1;
	if (!jv_is_integer(v))
		return jv_fail(e, "%s: an integer is wanted, not %s", c->name, jv_type(v)), -1;
	*out = jv_integer(v);
	return 0;
}

int jinja_arg_str(struct env *e, const struct call *c, int i, struct jv absent, struct jv *out)
{
	struct jv v = c->arg[i];

	*out = absent;
	if (v.kind == JV_ABSENT || (v.kind == JV_NONE && absent.kind == JV_NONE))
		return 0;
	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v), -1;
	if (v.kind != JV_STR)
		return jv_fail(e, "%s: a string is wanted, not %s", c->name, jv_type(v)), -1;
	*out = v;
	return 0;
}

bool jinja_arg_true(const struct call *c, int i, bool absent)
{
	return c->arg[i].kind == JV_ABSENT ? absent : jv_true(c->arg[i]);
}
