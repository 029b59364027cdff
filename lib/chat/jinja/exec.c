/* Trees to text: statements and the variables they set. */
#include "interpreter.h"

void scope_push(struct env *e, struct scope *parent)
{
	struct scope *s = e->free_scopes;

	if (s)
		e->free_scopes = s->parent;
	else
		s = ENV_NEW(e, struct scope);
	*s = (struct scope){ .parent = parent, .outer = e->scope };
	e->scope = s;
}

void scope_pop(struct env *e)
{
	struct scope *s = e->scope;

	e->scope = s->outer;
	if (s->kept)
		return;
	while (s->first) {
		struct binding *b = s->first;

		s->first = b->next;
		b->next = e->free_bindings;
		e->free_bindings = b;
	}
	s->parent = e->free_scopes;
	e->free_scopes = s;
}

void scope_set(struct env *e, const struct name *name, struct jv v)
{
	struct binding *b;

	for (b = e->scope->first; b; b = b->next) {
		if (b->name == name) {
			b->value = v;
			return;
		}
		env_tick(e, 1);
	}
	b = e->free_bindings;
	if (b)
		e->free_bindings = b->next;
	else
		b = ENV_NEW(e, struct binding);
	*b = (struct binding){ name, v, e->scope->first };
	e->scope->first = b;
}

/* Marks a scope, and those around it, that something which can outlive it refers to. */
static void keep(struct scope *s)
{
	for (; s && !s->kept; s = s->parent)
		s->kept = true;
}

static void assign(struct env *e, const struct node *target, struct jv v)
{
	const struct jv_list *l;
	struct jv object;
	uint32_t n = 0, i = 0;

	if (target->type == N_NAME) {
		scope_set(e, target->name, v);
	} else if (target->type == N_ATTR) {
		object = eval(e, target->a);
		jv_defined(e, object);
		if (object.kind != JV_NAMESPACE)
			env_fail(e, "cannot assign attribute on non-namespace object");
		jv_dict_set(e, object.dict, target->name->text, v);
	} else {
		jv_defined(e, v);
		l = jv_items(e, v);
		for (const struct node *t = target->a; t; t = t->next)
			n++;
		if (l->n < n)
			env_fail(e, "not enough values to unpack (expected %u, got %u)", n, l->n);
		if (l->n > n)
			env_fail(e, "too many values to unpack (expected %u)", n);
		for (const struct node *t = target->a; t; t = t->next)
			assign(e, t, l->items[i++]);
	}
}

static void exec_if(struct env *e, const struct node *n)
{
	for (; n->type == N_IF; n = n->other) {
		if (jv_true(eval(e, n->a))) {
			exec(e, n->body);
			return;
		}
		if (!n->other || n->other->type != N_IF || n->other->next)
			break;
	}
	exec(e, n->other);
}

/* Does the item pass the loop's condition? */
static bool passes(struct env *e, struct jv_loop *l, struct jv v)
{
	bool yes;

	scope_push(e, l->scope);
	assign(e, l->node->a, v);
	yes = jv_true(eval(e, l->node->c));
	scope_pop(e);
	return yes;
}

/* Makes `ahead` the next item; false at the end. */
static bool pull(struct env *e, struct jv_loop *l)
{
	while (!l->has_ahead && l->next < l->n) {
		l->ahead = l->items ? l->items->items[l->next] : jv_range_at(l->range, l->next);
		l->next++;
		l->has_ahead = l->length >= 0 || passes(e, l, l->ahead);
	}
	return l->has_ahead;
}

/* How many items there are in all. Those that are left are tried now, and the ones that pass become the items. */
static int64_t loop_length(struct env *e, struct jv_loop *l)
{
	struct jv_list *rest;

	if (l->length >= 0)
		return l->length;
	rest = jv_list(e, JV_LIST, 0).list;
	for (; pull(e, l); l->has_ahead = false)
		jv_push(e, rest, l->ahead);
	l->items = rest;
	l->next = 0;
	l->n = rest->n;
	l->length = l->index + 1 + rest->n;
	return l->length;
}

struct jv loop_attribute(struct env *e, struct jv_loop *l, struct jv name)
{
	int from = jv_is(name, "index") || jv_is(name, "depth") || jv_is(name, "revindex");

	if (from || jv_is(name, "index0") || jv_is(name, "depth0") || jv_is(name, "revindex0"))
		return jv_int(from + (*name.s == 'i' ? l->index : *name.s == 'd' ? l->depth
			: loop_length(e, l) - l->index - 1));
	if (jv_is(name, "length"))
		return jv_int(loop_length(e, l));
	if (jv_is(name, "first"))
		return jv_bool(l->index == 0);
	if (jv_is(name, "last"))
		return jv_bool(!pull(e, l));
	if (jv_is(name, "previtem"))
		return l->index ? l->previous : jv_undefined_hint("there is no previous item");
	if (jv_is(name, "nextitem"))
		return pull(e, l) ? l->ahead : jv_undefined_hint("there is no next item");
	return jv_undefined(JV_LOOP, name);
}

/* One iteration: `ahead` becomes the current item, in a scope of its own. Returns false after a break. */
static bool iterate(struct env *e, struct jv_loop *l)
{
	bool on;

	l->has_ahead = false;
	l->index++;
	l->previous = l->current;
	l->current = l->ahead;
	scope_push(e, l->scope);
	assign(e, l->node->a, l->current);
	scope_set(e, e->t->loop, (struct jv){ .kind = JV_LOOP, .loop = l });
	exec(e, l->node->body);
	scope_pop(e);
	on = e->flow != FLOW_BREAK;
	e->flow = FLOW_ON;
	return on;
}

static void run_loop(struct env *e, const struct node *n, struct jv over, struct scope *scope, int64_t depth)
{
	struct jv_loop *l = ENV_NEW(e, struct jv_loop);

	*l = (struct jv_loop){ .node = n, .index = -1, .depth = depth, .scope = scope };
	if (over.kind == JV_RANGE) {
		l->range = over.range;
		l->n = over.range->n;
	} else {
		l->items = jv_share(e, JV_LIST, jv_items(e, over), 0, UINT32_MAX).list;
		l->n = l->items->n;
	}
	l->length = n->c ? -1 : l->n;
	if (n->op)
		keep(scope);
	while (pull(e, l) && iterate(e, l))
		;
	l->next = l->n;
	if (l->index < 0)
		exec(e, n->other);
}

struct jv loop_recurse(struct env *e, struct jv_loop *l, struct jv items)
{
	size_t start = e->out->n;

	if (!l->node->op)
		env_fail(e, "the loop is not marked as recursive");
	run_loop(e, l->node, items, l->scope, l->depth + 1);
	return jv_since(e, start);
}

struct jv exec_macro(struct env *e, const struct node *n)
{
	struct jv_macro *m = ENV_NEW(e, struct jv_macro);

	*m = (struct jv_macro){ n, e->scope };
	keep(e->scope);
	return (struct jv){ .kind = JV_MACRO, .macro = m };
}

/* Runs the body in a new scope with the variables of `sets`, whose values are those of the scope outside. */
static void exec_scope(struct env *e, const struct node *sets, const struct node *body)
{
	struct jv_list values = { 0 };
	uint32_t i = 0;

	for (const struct node *set = sets; set; set = set->next)
		jv_push(e, &values, eval(e, set->b));
	scope_push(e, e->scope);
	for (; sets; sets = sets->next)
		assign(e, sets->a, values.items[i++]);
	exec(e, body);
	scope_pop(e);
}

struct jv exec_captured(struct env *e, const struct node *body)
{
	size_t start = e->out->n;

	exec_scope(e, NULL, body);
	return jv_since(e, start);
}

static void exec_one(struct env *e, const struct node *n)
{
	struct jv v;

	switch (n->type) {
	case N_TEXT:
		jv_put_str(e, n->value);
		break;
	case N_PRINT:
		jv_put_str(e, eval(e, n->a));
		break;
	case N_IF:
		exec_if(e, n);
		break;
	case N_FOR:
		run_loop(e, n, eval(e, n->b), e->scope, 0);
		break;
	case N_SET:
		v = eval(e, n->b);
		if (n->a)
			assign(e, n->a, v);
		break;
	case N_WITH:
		exec_scope(e, n->a, n->body);
		break;
	case N_BREAK:
	case N_CONTINUE:
		e->flow = n->type == N_BREAK ? FLOW_BREAK : FLOW_CONTINUE;
	}
}

void exec(struct env *e, const struct node *body)
{
	env_enter(e);
	for (; body && e->flow == FLOW_ON; body = body->next) {
		e->line = body->line;
		env_tick(e, 1);
		exec_one(e, body);
	}
	e->depth--;
}
