/* Trees to text: statements and the variables they set. */
#include "run.h"

#include <string.h>

struct scope *scope_push(struct env *e, struct scope *parent)
{
	struct scope *s = e->free_scopes;

	if (s)
		e->free_scopes = s->parent;
	else
		s = ENV_NEW(e, struct scope);
	*s = (struct scope){ .parent = parent };
	e->scope = s;
	return s;
}

void scope_pop(struct env *e, struct scope *outer)
{
	struct scope *s = e->scope;

	e->scope = outer;
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
		jv_dict_set(e, object.dict, target->value, v);
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

struct jv exec_captured(struct env *e, const struct node *body)
{
	size_t start = e->out->n;

	exec(e, body);
	return jv_since(e, start);
}

static enum flow exec_if(struct env *e, const struct node *n)
{
	for (; n->type == N_IF; n = n->c) {
		if (jv_true(eval(e, n->a)))
			return exec(e, n->b);
		if (!n->c || n->c->type != N_IF || n->c->next)
			break;
	}
	return exec(e, n->c);
}

/* Does the item pass the loop's condition? */
static bool passes(struct env *e, struct jv_loop *l, struct jv v)
{
	struct scope *outer = e->scope;
	bool yes;

	scope_push(e, l->scope);
	assign(e, l->node->a, v);
	yes = jv_true(eval(e, l->node->c));
	scope_pop(e, outer);
	return yes;
}

/* Makes `ahead` the next item; false at the end. */
static bool pull(struct env *e, struct jv_loop *l)
{
	while (!l->has_ahead && l->next < l->n) {
		struct jv v = l->items ? l->items->items[l->next] : jv_range_at(l->range, l->next);

		l->next++;
		if (l->filtered && !passes(e, l, v))
			continue;
		l->ahead = v;
		l->has_ahead = true;
	}
	return l->has_ahead;
}

/* How many items there are in all. The items that are left are tried now and kept in a list. */
static int64_t loop_length(struct env *e, struct jv_loop *l)
{
	int64_t before = l->index + 1;
	struct jv rest;

	if (!l->filtered)
		return l->n;
	rest = jv_list(e, JV_LIST, 0);
	for (; pull(e, l); l->has_ahead = false)
		jv_push(e, rest.list, l->ahead);
	jv_own(e, rest.list, (uint32_t)before);
	memmove(rest.list->items + before, rest.list->items, rest.list->n * sizeof *rest.list->items);
	l->items = rest.list;
	l->filtered = false;
	l->next = before;
	l->n = before + rest.list->n;
	return l->n;
}

struct jv loop_attribute(struct env *e, struct jv_loop *l, struct jv name)
{
	static const char *const names[] = {
		"index", "index0", "depth", "depth0", "first", "length", "revindex", "revindex0", "previtem", "last",
		"nextitem", NULL
	};
	int i = 0;

	while (names[i] && !jv_is(name, names[i]))
		i++;
	switch (i) {
	case 0:
	case 1:
		return jv_int(l->index + 1 - i);
	case 2:
	case 3:
		return jv_int(l->depth + 3 - i);
	case 4:
		return jv_bool(l->index == 0);
	case 5:
		return jv_int(loop_length(e, l));
	case 6:
	case 7:
		return jv_int(loop_length(e, l) - l->index + 6 - i);
	case 8:
		return l->index ? l->previous : jv_undefined_hint(e, "there is no previous item");
	case 9:
		return jv_bool(!pull(e, l));
	case 10:
		return pull(e, l) ? l->ahead : jv_undefined_hint(e, "there is no next item");
	}
	return jv_undefined(e, JV_LOOP, name.s, name.n);
}

/* One iteration: `ahead` becomes the current item, in a scope of its own. */
static enum flow iterate(struct env *e, struct jv_loop *l)
{
	struct scope *outer = e->scope;
	enum flow flow;

	l->has_ahead = false;
	l->index++;
	l->previous = l->current;
	l->current = l->ahead;
	scope_push(e, l->scope);
	assign(e, l->node->a, l->current);
	scope_set(e, e->t->loop, (struct jv){ .kind = JV_LOOP, .loop = l });
	flow = exec(e, l->node->d);
	scope_pop(e, outer);
	return flow;
}

static enum flow run_loop(struct env *e, const struct node *n, struct jv over, struct scope *scope, int64_t depth)
{
	struct jv_loop *l = ENV_NEW(e, struct jv_loop);

	*l = (struct jv_loop){ .node = n, .index = -1, .depth = depth, .filtered = n->c != NULL, .scope = scope };
	if (over.kind == JV_RANGE) {
		l->range = over.range;
		l->n = over.range->n;
	} else {
		struct jv_list *items = jv_items(e, over);

		l->items = jv_share(e, JV_LIST, items, 0, items->n).list;
		l->n = items->n;
	}
	if (n->op)
		keep(scope);
	while (pull(e, l) && iterate(e, l) != FLOW_BREAK)
		;
	l->next = l->n;
	return l->index < 0 ? exec(e, n->e) : FLOW_ON;
}

struct jv loop_recurse(struct env *e, struct jv_loop *l, struct jv items)
{
	size_t start = e->out->n;

	if (!l->node->op)
		env_fail(e, "the loop is not marked as recursive");
	env_enter(e);
	run_loop(e, l->node, items, l->scope, l->depth + 1);
	e->depth--;
	return jv_since(e, start);
}

static struct jv make_macro(struct env *e, const struct node *n)
{
	struct jv_macro *m = ENV_NEW(e, struct jv_macro);

	*m = (struct jv_macro){ n, e->scope };
	keep(e->scope);
	return (struct jv){ .kind = JV_MACRO, .macro = m };
}

static enum flow exec_with(struct env *e, const struct node *n)
{
	struct scope *outer = e->scope, *inner = scope_push(e, outer);
	enum flow flow;

	for (const struct node *set = n->a; set; set = set->next) {
		struct jv v;

		e->scope = outer;
		v = eval(e, set->b);
		e->scope = inner;
		assign(e, set->a, v);
	}
	flow = exec(e, n->b);
	scope_pop(e, outer);
	return flow;
}

static enum flow exec_scope(struct env *e, const struct node *body)
{
	struct scope *outer = e->scope;
	enum flow flow;

	scope_push(e, outer);
	flow = exec(e, body);
	scope_pop(e, outer);
	return flow;
}

/* Runs the body in a new scope and returns its text. */
static struct jv capture(struct env *e, const struct node *body)
{
	size_t start = e->out->n;

	exec_scope(e, body);
	return jv_since(e, start);
}

static enum flow exec_one(struct env *e, const struct node *n)
{
	struct jv v;

	switch (n->type) {
	case N_IF:
		return exec_if(e, n);
	case N_FOR:
		return run_loop(e, n, eval(e, n->b), e->scope, 0);
	case N_WITH:
		return exec_with(e, n);
	case N_SCOPE:
		return exec_scope(e, n->a);
	case N_BREAK:
		return FLOW_BREAK;
	case N_CONTINUE:
		return FLOW_CONTINUE;
	case N_TEXT:
		jv_put_str(e, n->value);
		break;
	case N_PRINT:
		jv_put_str(e, eval(e, n->a));
		break;
	case N_SET:
		assign(e, n->a, eval(e, n->b));
		break;
	case N_SET_BLOCK:
		v = capture(e, n->c);
		assign(e, n->a, n->b ? eval_filters(e, n->b, v) : v);
		break;
	case N_FILTER_BLOCK:
		v = capture(e, n->b);
		jv_put_str(e, eval_filters(e, n->a, v));
		break;
	case N_MACRO:
		scope_set(e, n->name, make_macro(e, n));
		break;
	case N_CALL_BLOCK:
		v = make_macro(e, n->b);
		jv_put_str(e, eval_call(e, n->a, &v));
		break;
	default:
		eval(e, n->a);
	}
	return FLOW_ON;
}

enum flow exec(struct env *e, const struct node *body)
{
	enum flow flow = FLOW_ON;

	env_enter(e);
	for (; body && flow == FLOW_ON; body = body->next) {
		e->line = body->line;
		env_tick(e, 1);
		flow = exec_one(e, body);
	}
	e->depth--;
	return flow;
}
