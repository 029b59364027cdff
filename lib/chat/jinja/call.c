/* Calls: which function, and which argument is which. */
#include "run.h"

#include <string.h>

const struct builtin *builtin_method(struct jv object, struct jv name)
{
	switch (object.kind) {
	case JV_STR:
		return builtin_find(name.s, name.n, OF_STR);
	case JV_LIST:
		return builtin_find(name.s, name.n, OF_LIST);
	case JV_TUPLE:
		return builtin_find(name.s, name.n, OF_TUPLE);
	case JV_DICT:
		return builtin_find(name.s, name.n, OF_DICT);
	case JV_LOOP:
		return builtin_find(name.s, name.n, OF_LOOP);
	}
	return NULL;
}

/* Fails for the first named argument that is no parameter. */
static _Noreturn void refuse_kwarg(struct env *e, const struct builtin *b, const struct call *c)
{
	const struct kwarg *kw = c->kw;
	const char *name;

	for (;; kw++) {
		for (name = b->params; *name; name += strcspn(name, " "), name += *name == ' ') {
			name += *name == '?';
			if (strcspn(name, " ") == kw->n && !memcmp(name, kw->s, kw->n))
				break;
		}
		if (!*name)
			env_fail(e, "%s() got an unexpected keyword argument '%.*s'", b->name,
				kw->n > 64 ? 64 : (int)kw->n, kw->s);
	}
}

/* Sorts the arguments into c->arg by the builtin's parameters. */
static void sort_arguments(struct env *e, const struct builtin *b, struct call *c)
{
	uint32_t n = 0, needed = UINT32_MAX, taken = 0;
	size_t len;

	for (uint32_t i = 0; i < CALL_ARGS; i++)
		c->arg[i] = i < c->n_pos ? c->pos[i] : jv_absent();
	for (const char *name = b->params; *name; name += len + (name[len] == ' '), n++) {
		const struct kwarg *kw;

		if (*name == '?') {
			needed = n;
			name++;
		}
		len = strcspn(name, " ");
		kw = call_kwarg(c, name, len);
		if (kw && n < c->n_pos)
			env_fail(e, "%s() got multiple values for an argument", b->name);
		if (kw)
			c->arg[n] = kw->value;
		taken += kw != NULL;
		if (n < needed && c->arg[n].kind == JV_ABSENT)
			env_fail(e, "%s() is missing an argument", b->name);
	}
	if (c->n_pos > n)
		env_fail(e, "%s() takes at most %u arguments (%u given)", b->name, n, c->n_pos);
	if (taken < c->n_kw)
		refuse_kwarg(e, b, c);
}

struct jv builtin_run(struct env *e, const struct builtin *b, struct call *c)
{
	struct jv v;

	c->b = b;
	if (b->use & ON_TEXT && c->self.kind != JV_STR)
		c->self = jv_to_str(e, c->self);
	if (b->params)
		sort_arguments(e, b, c);
	env_enter(e);
	v = b->run(e, c);
	e->depth--;
	return v;
}

struct jv builtin_named(struct env *e, struct jv name, unsigned use, struct call *c)
{
	const struct builtin *b = builtin_find(name.s, name.n, use);

	if (!b)
		env_fail(e, "No %s named '%.*s'.", use == IS_TEST ? "test" : "filter", name.n > 64 ? 64 : (int)name.n,
			name.s);
	return builtin_run(e, b, c);
}

const struct kwarg *call_kwarg(const struct call *c, const char *s, size_t n)
{
	for (uint32_t i = 0; i < c->n_kw; i++)
		if (c->kw[i].n == n && !memcmp(c->kw[i].s, s, n))
			return &c->kw[i];
	return NULL;
}

/* Binds the parameters: those given, then the defaults, which may refer to them. Returns how many there are. */
static uint32_t bind_parameters(struct env *e, const struct jv_macro *m, const struct call *c)
{
	const struct name *name = m->node->name;
	uint32_t n = 0;

	for (const struct node *p = m->node->a; p; p = p->next, n++) {
		const struct kwarg *kw = call_kwarg(c, p->name->s, p->name->n);

		if (kw && n < c->n_pos)
			env_fail(e, "macro '%.*s' got multiple values for an argument", (int)name->n, name->s);
		scope_set(e, p->name, kw ? kw->value : n < c->n_pos ? c->pos[n] : p->a ? eval(e, p->a) :
			jv_undefined(e, JV_ABSENT, p->name->s, p->name->n));
	}
	return n;
}

/* Is it one of the macro's parameters, or its caller? */
static bool is_parameter(struct env *e, const struct jv_macro *m, const struct kwarg *kw)
{
	const struct name *caller = e->t->caller;

	for (const struct node *p = m->node->a; p; p = p->next)
		if (p->name->n == kw->n && !memcmp(p->name->s, kw->s, kw->n))
			return true;
	return m->node->op & MACRO_CALLER && kw->n == caller->n && !memcmp(kw->s, caller->s, kw->n);
}

/* Binds caller, varargs and kwargs where the macro uses them; what it does not take is refused. */
static void bind_rest(struct env *e, const struct jv_macro *m, const struct call *c, uint32_t n)
{
	const struct name *name = m->node->name;
	const struct kwarg *caller = call_kwarg(c, "caller", 6);
	struct jv v;

	if (m->node->op & MACRO_CALLER)
		scope_set(e, e->t->caller, caller ? caller->value : jv_undefined_hint(e, "No caller defined"));
	if (m->node->op & MACRO_VARARGS) {
		v = jv_list(e, JV_TUPLE, 0);
		for (uint32_t i = n; i < c->n_pos; i++)
			jv_push(e, v.list, c->pos[i]);
		scope_set(e, e->t->varargs, v);
	} else if (c->n_pos > n) {
		env_fail(e, "macro '%.*s' takes not more than %u argument(s)", (int)name->n, name->s, n);
	}
	v = jv_dict(e, JV_DICT);
	for (uint32_t i = 0; i < c->n_kw; i++) {
		const struct kwarg *kw = &c->kw[i];

		if (is_parameter(e, m, kw))
			continue;
		if (!(m->node->op & MACRO_KWARGS))
			env_fail(e, "macro '%.*s' takes no keyword argument '%.*s'", (int)name->n, name->s,
				kw->n > 64 ? 64 : (int)kw->n, kw->s);
		jv_dict_set(e, v.dict, jv_str(kw->s, kw->n), kw->value);
	}
	if (m->node->op & MACRO_KWARGS)
		scope_set(e, e->t->kwargs, v);
}

static struct jv call_macro(struct env *e, const struct jv_macro *m, const struct call *c)
{
	struct scope *outer = e->scope;
	struct jv out;

	env_enter(e);
	scope_push(e, m->scope);
	bind_rest(e, m, c, bind_parameters(e, m, c));
	out = exec_captured(e, m->node->b);
	scope_pop(e, outer);
	e->depth--;
	return out;
}

struct jv call_value(struct env *e, struct jv callee, struct call *c)
{
	jv_defined(e, callee);
	switch (callee.kind) {
	case JV_BUILTIN:
		return builtin_run(e, callee.builtin, c);
	case JV_METHOD:
		c->self = callee.method->self;
		return builtin_run(e, callee.method->builtin, c);
	case JV_MACRO:
		return call_macro(e, callee.macro, c);
	case JV_LOOP:
		if (c->n_pos != 1)
			env_fail(e, "loop() takes one argument");
		return loop_recurse(e, callee.loop, c->pos[0]);
	}
	env_fail(e, "'%s' object is not callable", jv_type(callee));
}

int64_t arg_int(struct env *e, const struct call *c, int i, int64_t absent)
{
	struct jv v = c->arg[i];

	jv_defined(e, v);
	if (v.kind == JV_ABSENT || v.kind == JV_NONE)
		return absent;
	if (!jv_in(v, JV_INTEGERS))
		env_fail(e, "%s: expected an integer, not %s", c->b->name, jv_type(v));
	return jv_integer(v);
}

struct jv arg_str(struct env *e, const struct call *c, int i, struct jv absent)
{
	struct jv v = c->arg[i];

	jv_defined(e, v);
	if (v.kind == JV_ABSENT || (v.kind == JV_NONE && absent.kind == JV_NONE))
		return absent;
	if (v.kind != JV_STR)
		env_fail(e, "%s: expected a string, not %s", c->b->name, jv_type(v));
	return v;
}

bool arg_true(const struct call *c, int i, bool absent)
{
	return c->arg[i].kind == JV_ABSENT ? absent : jv_true(c->arg[i]);
}

struct jv arg_or(const struct call *c, int i, struct jv absent)
{
	return c->arg[i].kind == JV_ABSENT ? absent : c->arg[i];
}
