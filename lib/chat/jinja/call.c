/* Calls: which function, and which argument is which. */
#include "interpreter.h"

#include <stdio.h>
#include <string.h>

static void add_named(struct env *e, struct call *c, struct jv name, struct jv v)
{
	if (name.kind != JV_STR)
		env_fail(e, "keywords must be strings");
	if (!c->kw)
		c->kw = jv_dict(e, JV_DICT).dict;
	if (jv_dict_get(e, c->kw, name))
		env_fail(e, "got multiple values for keyword argument '%.*s'", JV_SHOWN(name));
	jv_dict_set(e, c->kw, name, v);
}

/* Evaluates the arguments into c. */
static void arguments(struct env *e, const struct node *args, struct call *c)
{
	struct jv_list pos = { 0 };

	for (; args; args = args->next) {
		struct jv v = eval(e, args->a);

		if (args->op == '*') {
			jv_extend(e, &pos, jv_items(e, v));
		} else if (args->op) {
			if (v.kind != JV_DICT)
				env_fail(e, "argument after ** must be a mapping, not %s", jv_type(v));
			for (uint32_t i = 0; i < v.dict->n; i++)
				add_named(e, c, v.dict->pairs[i].key, v.dict->pairs[i].value);
		} else if (args->name) {
			add_named(e, c, args->name->text, v);
		} else {
			jv_push(e, &pos, v);
		}
	}
	c->pos = pos.items;
	c->n_pos = pos.n;
}

/* What is called, for messages: "macro 'm'" or "split()". */
static const char *callee(char out[128], const struct call *c)
{
	if (c->macro)
		snprintf(out, 128, "macro '%.*s'", JV_SHOWN(c->macro->name->text));
	else
		snprintf(out, 128, "%s()", c->b->name);
	return out;
}

/* Argument i, called `name`, is taken from the call; JV_ABSENT if it was not given. */
static struct jv take_argument(struct env *e, struct call *c, uint32_t i, struct jv name)
{
	struct jv *named = c->kw ? jv_dict_get(e, c->kw, name) : NULL, v;
	char out[128];

	if (!named)
		return i < c->n_pos ? c->pos[i] : jv_absent;
	if (i < c->n_pos)
		env_fail(e, "%s got multiple values for an argument", callee(out, c));
	v = *named;
	jv_dict_remove(c->kw, named);
	return v;
}

/* Fails if there are more than n positional arguments, or named ones that were not taken. */
static void refuse_rest(struct env *e, const struct call *c, uint32_t n)
{
	char out[128];

	if (c->n_pos > n)
		env_fail(e, "%s takes not more than %u argument(s)", callee(out, c), n);
	if (c->kw && c->kw->n)
		env_fail(e, "%s takes no keyword argument '%.*s'", callee(out, c), JV_SHOWN(c->kw->pairs[0].key));
}

const struct builtin *builtin_method(struct jv object, struct jv name)
{
	static const unsigned uses[] = { [JV_STR] = OF_STR, [JV_LIST] = OF_LIST, [JV_TUPLE] = OF_TUPLE,
		[JV_DICT] = OF_DICT, [JV_LOOP] = OF_LOOP, [JV_BYTES] = OF_BYTES };

	return uses[object.kind] ? builtin_find(name, uses[object.kind]) : NULL;
}

/* Sorts the arguments into c->arg by the builtin's parameters and runs it. */
static struct jv builtin_run(struct env *e, const struct builtin *b, struct call *c)
{
	bool optional = false;
	uint32_t n = 0;
	size_t length;
	struct jv v;

	c->b = b;
	if (b->use & ON_TEXT && c->self.kind != JV_STR)
		c->self = jv_to_str(e, c->self);
	for (const char *name = b->params; name && *name; name += length + (name[length] == ' '), n++) {
		optional |= *name == '?';
		name += *name == '?';
		length = strcspn(name, " ");
		c->arg[n] = take_argument(e, c, n, jv_str(name, length));
		if (!optional && c->arg[n].kind == JV_ABSENT)
			env_fail(e, "%s() is missing an argument", b->name);
	}
	if (b->params)
		refuse_rest(e, c, n);
	env_enter(e);
	v = b->run(e, c);
	e->depth--;
	return v;
}

struct jv builtin_named(struct env *e, struct jv name, unsigned use, struct call *c)
{
	const struct builtin *b = builtin_find(name, use);

	if (!b)
		env_fail(e, "No %s named '%.*s'.", use == IS_TEST ? "test" : "filter", JV_SHOWN(name));
	return builtin_run(e, b, c);
}

struct jv call_tuple(struct env *e, const struct call *c, uint32_t from)
{
	struct jv t = jv_list(e, JV_TUPLE, 0);

	for (; from < c->n_pos; from++)
		jv_push(e, t.list, c->pos[from]);
	return t;
}

/* Binds a macro's parameters: those given, then the defaults, which may refer to them; and caller, varargs and kwargs
 * where the macro uses them. */
static void bind(struct env *e, const struct node *macro, struct call *c)
{
	uint32_t n = 0;
	struct jv v;

	for (const struct node *p = macro->a; p; p = p->next, n++) {
		v = take_argument(e, c, n, p->name->text);
		if (v.kind == JV_ABSENT)
			v = p->a ? eval(e, p->a) : jv_undefined(JV_ABSENT, p->name->text);
		scope_set(e, p->name, v);
	}
	if (macro->op & MACRO_CALLER) {
		v = take_argument(e, c, UINT32_MAX, e->t->caller->text);
		scope_set(e, e->t->caller, v.kind == JV_ABSENT ? jv_undefined_hint("No caller defined") : v);
	}
	if (macro->op & MACRO_VARARGS) {
		scope_set(e, e->t->varargs, call_tuple(e, c, n));
		n = UINT32_MAX;
	}
	if (macro->op & MACRO_KWARGS) {
		v = jv_dict(e, JV_DICT);
		v.dict = c->kw ? c->kw : v.dict;
		scope_set(e, e->t->kwargs, v);
		c->kw = NULL;
	}
	refuse_rest(e, c, n);
}

static struct jv call_macro(struct env *e, const struct jv_macro *m, struct call *c)
{
	size_t start = e->out->n;

	c->macro = m->node;
	scope_push(e, m->scope);
	bind(e, m->node, c);
	exec(e, m->node->body);
	scope_pop(e);
	return jv_since(e, start);
}

struct jv call_node(struct env *e, const struct node *n)
{
	struct call c = { 0 };
	struct jv callee = eval(e, n->a);

	arguments(e, n->b, &c);
	e->line = n->line;
	jv_defined(e, callee);
	switch (callee.kind) {
	case JV_BUILTIN:
		return builtin_run(e, callee.builtin, &c);
	case JV_METHOD:
		c.self = callee.method->self;
		return builtin_run(e, callee.method->builtin, &c);
	case JV_MACRO:
		return call_macro(e, callee.macro, &c);
	case JV_LOOP:
		if (c.n_pos != 1)
			env_fail(e, "loop() takes one argument");
		return loop_recurse(e, callee.loop, c.pos[0]);
	}
	env_fail(e, "'%s' object is not callable", jv_type(callee));
}

struct jv call_filter_or_test(struct env *e, const struct node *n)
{
	struct call c = { .self = eval(e, n->a) };

	arguments(e, n->b, &c);
	e->line = n->line;
	return builtin_named(e, n->name->text, n->type == N_FILTER ? IS_FILTER : IS_TEST, &c);
}

int64_t arg_int(struct env *e, const struct call *c, int i, int64_t absent)
{
	struct jv v = c->arg[i];

	jv_defined(e, v);
	if (v.kind == JV_ABSENT || v.kind == JV_NONE)
		return absent;
	if (v.kind == JV_BIG)
		number_overflow(e);
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

struct jv arg_or(const struct call *c, int i, struct jv absent)
{
	return c->arg[i].kind == JV_ABSENT ? absent : c->arg[i];
}
