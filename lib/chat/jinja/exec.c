/* Statements, and the variables they set. */
#include "priv.h"

#include <string.h>

struct scope *jinja_push_scope(struct env *e, struct scope *parent)
{
	struct scope *s = e->free_scopes;

	if (s)
		e->free_scopes = s->parent;
	else
		s = arena_alloc(&e->arena, sizeof *s);
	if (!s)
		return jv_full(e), NULL;
	*s = (struct scope){ .parent = parent };
	e->scope = s;
	return s;
}

void jinja_pop_scope(struct env *e, struct scope *outer)
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

int jinja_set(struct env *e, const struct name *name, struct jv v)
{
	struct binding *b;

	for (b = e->scope->first; b; b = b->next) {
		if (b->name == name) {
			b->value = v;
			return 0;
		}
		if (jinja_tick(e, 1))
			return -1;
	}
	b = e->free_bindings;
	if (b)
		e->free_bindings = b->next;
	else
		b = arena_alloc(&e->arena, sizeof *b);
	if (!b)
		return jv_full(e), -1;
	*b = (struct binding){ name, v, e->scope->first };
	e->scope->first = b;
	return 0;
}

static int assign(struct env *e, const struct node *target, struct jv v);

static int unpack(struct env *e, const struct node *targets, struct jv v)
{
	const struct jv_list *l;
	uint32_t n = 0, i = 0;

	if (v.kind == JV_UNDEF)
		return jv_fail_undefined(e, v), -1;
	l = jv_walk(e, v);
	if (!l)
		return -1;
	for (const struct node *t = targets; t; t = t->next)
		n++;
	if (l->n < n)
		return jv_fail(e, "not enough values to unpack (expected %u, got %u)", n, l->n), -1;
	if (l->n > n)
		return jv_fail(e, "too many values to unpack (expected %u)", n), -1;
	for (const struct node *t = targets; t; t = t->next)
		if (assign(e, t, l->items[i++]))
			return -1;
	return 0;
}

static int assign(struct env *e, const struct node *target, struct jv v)
{
	struct jv object;

	if (target->type == N_NAME)
		return jinja_set(e, target->name, v);
	if (target->type == N_TUPLE)
		return unpack(e, target->a, v);
	object = jinja_eval(e, target->a);
	if (object.kind == JV_ERROR)
		return -1;
	if (object.kind == JV_UNDEF)
		return jv_fail_undefined(e, object), -1;
	if (object.kind != JV_NAMESPACE)
		return jv_fail(e, "cannot assign attribute on non-namespace object"), -1;
	return jv_dict_set(e, object.dict, target->value, v);
}

struct jv jinja_capture(struct env *e, const struct node *body)
{
	struct bytes b = jinja_buffer(e), *outer = e->out;
	int failed;

	e->out = &b;
	failed = jinja_exec(e, body);
	e->out = outer;
	if (failed) {
		bytes_free(&b);
		return jv_error();
	}
	return jv_take(e, &b);
}

static int exec_print(struct env *e, const struct node *n)
{
	struct jv v = jinja_eval(e, n->a);

	if (v.kind == JV_ERROR)
		return -1;
	if (jv_put_str(e, e->out, v))
		return jv_full(e), -1;
	return 0;
}

static int exec_if(struct env *e, const struct node *n)
{
	for (; n && n->type == N_IF; n = n->c) {
		struct jv v = jinja_eval(e, n->a);

		if (v.kind == JV_ERROR)
			return -1;
		if (jv_true(v))
			return jinja_exec(e, n->b);
		if (n->c && (n->c->type != N_IF || n->c->next))
			break;
	}
	return n ? jinja_exec(e, n->c) : 0;
}

static struct jv item(const struct jv_loop *l, int64_t i)
{
	return l->items ? l->items->items[i] : jv_range_at(l->range, i);
}

/* Does the item pass the loop's condition? 1, 0, -1. */
static int passes(struct env *e, struct jv_loop *l, struct jv v)
{
	struct scope *outer = e->scope;
	struct jv yes;

	if (!jinja_push_scope(e, l->scope))
		return -1;
	yes = assign(e, l->node->a, v) ? jv_error() : jinja_eval(e, l->node->c);
	jinja_pop_scope(e, outer);
	return yes.kind == JV_ERROR ? -1 : jv_true(yes);
}

/* Makes `ahead` the next item: 1; 0 at the end, -1. */
static int pull(struct env *e, struct jv_loop *l)
{
	if (l->has_ahead)
		return 1;
	while (l->next < l->n) {
		struct jv v = item(l, l->next++);
		int yes = l->filtered ? passes(e, l, v) : 1;

		if (yes < 0)
			return -1;
		if (yes) {
			l->ahead = v;
			l->has_ahead = true;
			return 1;
		}
	}
	return 0;
}

/* How many items there are in all; -1 for an error. What is left is tried now and kept in a list. */
static int64_t loop_length(struct env *e, struct jv_loop *l)
{
	struct jv rest;
	int64_t before = l->index + 1;
	int more;

	if (!l->filtered)
		return l->n;
	rest = jv_list(e, JV_LIST, 0);
	if (rest.kind == JV_ERROR)
		return -1;
	while ((more = pull(e, l)) > 0) {
		l->has_ahead = false;
		if (jv_push(e, rest.list, l->ahead))
			return -1;
	}
	if (more < 0 || jv_own(e, rest.list, (uint32_t)before))
		return -1;
	memmove(rest.list->items + before, rest.list->items, rest.list->n * sizeof *rest.list->items);
	l->items = rest.list;
	l->filtered = false;
	l->next = before;
	l->n = before + rest.list->n;
	return l->n;
}

static struct jv loop_number(struct env *e, struct jv_loop *l, int64_t offset, bool from_end)
{
	int64_t n = from_end ? loop_length(e, l) : 0;

	return n < 0 ? jv_error() : jv_int(from_end ? n - l->index + offset : l->index + offset);
}

struct jv jinja_loop_attr(struct env *e, struct jv_loop *l, struct jv name)
{
	int more;

	if (jv_is(name, "index"))
		return loop_number(e, l, 1, false);
	if (jv_is(name, "index0"))
		return loop_number(e, l, 0, false);
	if (jv_is(name, "first"))
		return jv_bool(l->index == 0);
	if (jv_is(name, "revindex"))
		return loop_number(e, l, 0, true);
	if (jv_is(name, "revindex0"))
		return loop_number(e, l, -1, true);
	if (jv_is(name, "depth"))
		return jv_int(l->depth + 1);
	if (jv_is(name, "depth0"))
		return jv_int(l->depth);
	if (jv_is(name, "previtem"))
		return l->index ? l->previous : jv_undefined_hint(e, "there is no previous item");
	if (jv_is(name, "length")) {
		int64_t n = loop_length(e, l);

		return n < 0 ? jv_error() : jv_int(n);
	}
	if (!jv_is(name, "last") && !jv_is(name, "nextitem"))
		return jv_undefined(e, JV_LOOP, name.s, name.n);
	more = pull(e, l);
	if (more < 0)
		return jv_error();
	if (jv_is(name, "last"))
		return jv_bool(!more);
	return more ? l->ahead : jv_undefined_hint(e, "there is no next item");
}

static struct jv loop_cycle(struct env *e, struct call *c)
{
	return c->n_pos ? c->pos[c->self.loop->index % c->n_pos] : jv_fail(e, "no items for cycling given");
}

static struct jv loop_changed(struct env *e, struct call *c)
{
	struct jv_loop *l = c->self.loop;
	struct jv now = jv_list(e, JV_TUPLE, c->n_pos);
	int same;

	for (uint32_t i = 0; i < c->n_pos && now.kind != JV_ERROR; i++)
		if (jv_push(e, now.list, c->pos[i]))
			return jv_error();
	same = now.kind == JV_ERROR ? -1 : jv_equal(e, now, l->changed);
	l->changed = now;
	return same < 0 ? jv_error() : jv_bool(!same);
}

const struct builtin jinja_loop_methods[] = { { "changed", loop_changed, NULL }, { "cycle", loop_cycle, NULL }, { 0 } };

/* One round: what `ahead` was becomes the current item, in a scope of its own. */
static int round_of(struct env *e, struct jv_loop *l)
{
	struct scope *outer = e->scope;
	int code;

	l->has_ahead = false;
	l->index++;
	l->previous = l->current;
	l->current = l->ahead;
	if (!jinja_push_scope(e, l->scope))
		return -1;
	if (assign(e, l->node->a, l->current) || jinja_set(e, e->t->loop, (struct jv){ .kind = JV_LOOP, .loop = l }))
		code = -1;
	else
		code = jinja_exec(e, l->node->d);
	jinja_pop_scope(e, outer);
	return code;
}

/* Something that can outlive this scope refers to it. */
static void keep(struct scope *s)
{
	for (; s && !s->kept; s = s->parent)
		s->kept = true;
}

static int run_loop(struct env *e, const struct node *n, struct jv over, struct scope *scope, int64_t depth)
{
	struct jv_loop *l = arena_array(&e->arena, 1, sizeof *l);
	struct jv_list *items = l && over.kind != JV_RANGE ? jv_walk(e, over) : NULL;
	int code = 0, more;

	if (!l)
		return jv_full(e), -1;
	if (over.kind == JV_RANGE) {
		*l = (struct jv_loop){ .range = over.range, .n = over.range->n };
	} else if (!items) {
		return -1;
	} else {
		items->cap = 0;
		l->items = arena_alloc(&e->arena, sizeof *items);
		if (!l->items)
			return jv_full(e), -1;
		*l->items = *items;
		l->n = items->n;
	}
	l->node = n;
	l->index = -1;
	l->depth = depth;
	l->filtered = n->c != NULL;
	l->scope = scope;
	if (n->op)
		keep(scope);
	while (code >= 0 && code != EXEC_BREAK && (more = pull(e, l)) != 0)
		code = more < 0 ? -1 : round_of(e, l);
	l->next = l->n;
	if (code < 0)
		return -1;
	return l->index < 0 ? jinja_exec(e, n->e) : 0;
}

static int exec_for(struct env *e, const struct node *n)
{
	struct jv over = jinja_eval(e, n->b);

	return over.kind == JV_ERROR ? -1 : run_loop(e, n, over, e->scope, 0);
}

struct jv jinja_loop_call(struct env *e, struct jv_loop *l, struct jv items)
{
	struct bytes b = jinja_buffer(e), *outer = e->out;
	int failed;

	if (!l->node->op)
		return jv_fail(e, "the loop is not marked as recursive");
	if (jinja_deeper(e))
		return jv_error();
	e->out = &b;
	failed = run_loop(e, l->node, items, l->scope, l->depth + 1);
	e->out = outer;
	e->depth--;
	if (failed) {
		bytes_free(&b);
		return jv_error();
	}
	return jv_take(e, &b);
}

/* Runs the body in a new scope and gives its text. */
static struct jv capture_inside(struct env *e, const struct node *body)
{
	struct scope *outer = e->scope;
	struct jv text;

	if (!jinja_push_scope(e, outer))
		return jv_error();
	text = jinja_capture(e, body);
	jinja_pop_scope(e, outer);
	return text;
}

static int exec_set_block(struct env *e, const struct node *n)
{
	struct jv text = capture_inside(e, n->c);

	if (text.kind != JV_ERROR && n->b)
		text = jinja_filter_text(e, n->b, text);
	return text.kind == JV_ERROR ? -1 : assign(e, n->a, text);
}

static int exec_filter_block(struct env *e, const struct node *n)
{
	struct jv text = capture_inside(e, n->b);

	if (text.kind != JV_ERROR)
		text = jinja_filter_text(e, n->a, text);
	if (text.kind == JV_ERROR)
		return -1;
	return jv_put_str(e, e->out, text) ? jv_full(e), -1 : 0;
}

static struct jv make_macro(struct env *e, const struct node *n)
{
	struct jv_macro *m = arena_alloc(&e->arena, sizeof *m);

	if (!m)
		return jv_full(e);
	*m = (struct jv_macro){ n, e->scope };
	keep(e->scope);
	return (struct jv){ .kind = JV_MACRO, .macro = m };
}

static int exec_call_block(struct env *e, const struct node *n)
{
	struct jv caller = make_macro(e, n->b), text;

	if (caller.kind == JV_ERROR)
		return -1;
	text = jinja_call_with(e, n->a, caller);
	if (text.kind == JV_ERROR)
		return -1;
	return jv_put_str(e, e->out, text) ? jv_full(e), -1 : 0;
}

static int exec_with(struct env *e, const struct node *n)
{
	struct scope *outer = e->scope, *inner = jinja_push_scope(e, outer);
	int code = inner ? 0 : -1;

	for (const struct node *set = n->a; set && !code; set = set->next) {
		struct jv v;

		e->scope = outer;
		v = jinja_eval(e, set->b);
		e->scope = inner;
		code = v.kind == JV_ERROR ? -1 : assign(e, set->a, v);
	}
	if (!code)
		code = jinja_exec(e, n->b);
	if (inner)
		jinja_pop_scope(e, outer);
	return code;
}

static int exec_scope(struct env *e, const struct node *n)
{
	struct scope *outer = e->scope;
	int code;

	if (!jinja_push_scope(e, outer))
		return -1;
	code = jinja_exec(e, n->a);
	jinja_pop_scope(e, outer);
	return code;
}

static int exec_one(struct env *e, const struct node *n)
{
	struct jv v;

	switch (n->type) {
	case N_TEXT:
		return jv_put_str(e, e->out, n->value) ? jv_full(e), -1 : 0;
	case N_PRINT:
		return exec_print(e, n);
	case N_IF:
		return exec_if(e, n);
	case N_FOR:
		return exec_for(e, n);
	case N_SET:
		v = jinja_eval(e, n->b);
		return v.kind == JV_ERROR ? -1 : assign(e, n->a, v);
	case N_SET_BLOCK:
		return exec_set_block(e, n);
	case N_MACRO:
		v = make_macro(e, n);
		return v.kind == JV_ERROR ? -1 : jinja_set(e, n->name, v);
	case N_CALL_BLOCK:
		return exec_call_block(e, n);
	case N_FILTER_BLOCK:
		return exec_filter_block(e, n);
	case N_WITH:
		return exec_with(e, n);
	case N_SCOPE:
		return exec_scope(e, n);
	case N_DO:
		return jinja_eval(e, n->a).kind == JV_ERROR ? -1 : 0;
	case N_BREAK:
		return EXEC_BREAK;
	default:
		return EXEC_CONTINUE;
	}
}

int jinja_exec(struct env *e, const struct node *body)
{
	int code = 0;

	if (jinja_deeper(e))
		return -1;
	for (; body && !code; body = body->next) {
		e->line = body->line;
		code = jinja_tick(e, 1) ? -1 : exec_one(e, body);
	}
	e->depth--;
	return e->failed ? -1 : code;
}
