/* Tokens to trees, what operators stand between: constants, names, lists and dicts, and what follows a value: .name [..] (..) |filter is-test. */
#include "priv.h"

#include <string.h>

enum { LARGEST_STRING = 1 << 20 };

static struct node *constant(struct parser *p, struct jv v)
{
	struct node *n = jinja_node(p, N_CONST);

	if (n)
		n->value = v;
	return n;
}

/* Takes the token if it is this operator: 1; 0 if it is another; -1 if the next cannot be read. */
static int take_op(struct parser *p, int op)
{
	if (!jinja_at_op(p, op))
		return 0;
	return jinja_advance(p) ? -1 : 1;
}

/* [items] up to the closing bracket, which is taken. */
static int items(struct parser *p, int close, struct node **chain)
{
	while (!jinja_at_op(p, close)) {
		*chain = jinja_parse_expression(p);
		if (!*chain)
			return -1;
		chain = &(*chain)->next;
		if (!jinja_at_op(p, close) && jinja_expect_op(p, ','))
			return -1;
	}
	return jinja_expect_op(p, close);
}

static struct node *list(struct parser *p)
{
	struct node *n = jinja_node(p, N_LIST);

	if (!n || jinja_advance(p) || items(p, ']', &n->a))
		return NULL;
	return n;
}

static struct node *dict(struct parser *p)
{
	struct node *n = jinja_node(p, N_DICT), **chain;

	if (!n || jinja_advance(p))
		return NULL;
	chain = &n->a;
	while (!jinja_at_op(p, '}')) {
		*chain = jinja_node(p, N_PAIR);
		if (!*chain)
			return NULL;
		(*chain)->a = jinja_parse_expression(p);
		if (!(*chain)->a || jinja_expect_op(p, ':'))
			return NULL;
		(*chain)->b = jinja_parse_expression(p);
		if (!(*chain)->b)
			return NULL;
		chain = &(*chain)->next;
		if (!jinja_at_op(p, '}') && jinja_expect_op(p, ','))
			return NULL;
	}
	return jinja_expect_op(p, '}') ? NULL : n;
}

static struct node *parenthesised(struct parser *p)
{
	struct node *n;

	if (jinja_advance(p))
		return NULL;
	if (jinja_at_op(p, ')'))
		n = jinja_node(p, N_TUPLE);
	else
		n = jinja_parse_tuple(p, true);
	return n && !jinja_expect_op(p, ')') ? n : NULL;
}

/* Strings that stand side by side are one. */
static struct node *strings(struct parser *p)
{
	struct bytes b = { .limit = LARGEST_STRING };
	struct node *n = NULL;
	int failed = 0;
	char *s;

	while (!failed && p->token.type == T_STRING)
		failed = bytes_put(&b, p->token.s, p->token.n) || jinja_advance(p);
	s = failed ? NULL : arena_text(&p->t->arena, b.n);
	if (s) {
		if (b.n)
			memcpy(s, b.p, b.n);
		n = constant(p, jv_str(s, b.n));
	} else if (!failed || b.failed) {
		jinja_fail(p, "out of memory");
	}
	bytes_free(&b);
	return n;
}

static struct node *name(struct parser *p)
{
	struct node *n;

	if (jinja_at_name(p, "true") || jinja_at_name(p, "True"))
		n = constant(p, jv_bool(true));
	else if (jinja_at_name(p, "false") || jinja_at_name(p, "False"))
		n = constant(p, jv_bool(false));
	else if (jinja_at_name(p, "none") || jinja_at_name(p, "None"))
		n = constant(p, jv_none());
	else if ((n = jinja_node(p, N_NAME)) && !(n->name = jinja_name(p, p->token.s, p->token.n)))
		return NULL;
	if (n && n->name)
		p->uses |= n->name == p->t->caller ? MACRO_CALLER : n->name == p->t->varargs ? MACRO_VARARGS : n->name == p->t->kwargs ? MACRO_KWARGS : 0;
	return n && !jinja_advance(p) ? n : NULL;
}

struct node *jinja_parse_primary(struct parser *p)
{
	struct node *n;

	switch (p->token.type) {
	case T_NAME:
		return name(p);
	case T_STRING:
		return strings(p);
	case T_INT:
		n = constant(p, jv_int(p->token.i));
		return n && !jinja_advance(p) ? n : NULL;
	case T_FLOAT:
		n = constant(p, jv_float(p->token.d));
		return n && !jinja_advance(p) ? n : NULL;
	default:
		break;
	}
	if (jinja_at_op(p, '('))
		return parenthesised(p);
	if (jinja_at_op(p, '['))
		return list(p);
	if (jinja_at_op(p, '{'))
		return dict(p);
	return jinja_fail(p, "an expression is wanted here");
}

static struct node *argument(struct parser *p)
{
	struct node *n = jinja_node(p, N_ARG);

	if (!n)
		return NULL;
	if (jinja_at_op(p, '*') || jinja_at_op(p, OP2('*', '*'))) {
		n->op = p->token.op;
		if (jinja_advance(p))
			return NULL;
	} else if (p->token.type == T_NAME) {
		if (jinja_peek(p))
			return NULL;
		if (p->ahead.type == T_OP && p->ahead.op == '=') {
			n->name = jinja_name(p, p->token.s, p->token.n);
			if (!n->name || jinja_advance(p) || jinja_advance(p))
				return NULL;
		}
	}
	n->a = jinja_parse_expression(p);
	return n->a ? n : NULL;
}

/* The arguments from the opening to the closing parenthesis. */
static int arguments(struct parser *p, struct node **chain)
{
	bool named = false;

	if (jinja_expect_op(p, '('))
		return -1;
	while (!jinja_at_op(p, ')')) {
		*chain = argument(p);
		if (!*chain)
			return -1;
		if (named && !(*chain)->name && !(*chain)->op) {
			jinja_fail(p, "a positional argument follows a named one");
			return -1;
		}
		named |= (*chain)->name || (*chain)->op == OP2('*', '*');
		chain = &(*chain)->next;
		if (!jinja_at_op(p, ')') && jinja_expect_op(p, ','))
			return -1;
	}
	return jinja_expect_op(p, ')');
}

static struct node *call(struct parser *p, struct node *callee)
{
	struct node *n = jinja_node(p, N_CALL);

	if (!n)
		return NULL;
	n->a = callee;
	return arguments(p, &n->b) ? NULL : n;
}

static struct node *dotted(struct parser *p, struct node *object)
{
	struct node *n;

	if (jinja_advance(p))
		return NULL;
	if (p->token.type == T_INT) {
		n = jinja_binary(p, N_ITEM, 0, object, constant(p, jv_int(p->token.i)));
	} else if (p->token.type == T_NAME) {
		n = jinja_node(p, N_ATTR);
		if (n) {
			n->a = object;
			n->value = jv_str(p->token.s, p->token.n);
		}
	} else {
		return jinja_fail(p, "a name or a number is wanted after '.'");
	}
	return n && !jinja_advance(p) ? n : NULL;
}

/* One bound of a slice, or nothing. */
static int bound(struct parser *p, struct node **n)
{
	if (jinja_at_op(p, ':') || jinja_at_op(p, ']') || jinja_at_op(p, ','))
		return 0;
	*n = jinja_parse_expression(p);
	return *n ? 0 : -1;
}

static struct node *slice(struct parser *p, struct node *object, struct node *from)
{
	struct node *n = jinja_node(p, N_SLICE);
	int more;

	if (!n || jinja_advance(p))
		return NULL;
	n->a = object;
	n->b = from;
	if (bound(p, &n->c))
		return NULL;
	more = take_op(p, ':');
	if (more < 0 || (more && bound(p, &n->d)))
		return NULL;
	return jinja_expect_op(p, ']') ? NULL : n;
}

static struct node *subscript(struct parser *p, struct node *object)
{
	struct node *key = NULL, *tuple;

	if (jinja_advance(p) || bound(p, &key))
		return NULL;
	if (jinja_at_op(p, ':'))
		return slice(p, object, key);
	if (!key)
		return jinja_fail(p, "a subscript is wanted here");
	if (jinja_at_op(p, ',')) {
		tuple = jinja_node(p, N_TUPLE);
		if (!tuple || jinja_advance(p))
			return NULL;
		tuple->a = key;
		if (items(p, ']', &key->next))
			return NULL;
		return jinja_binary(p, N_ITEM, 0, object, tuple);
	}
	return jinja_expect_op(p, ']') ? NULL : jinja_binary(p, N_ITEM, 0, object, key);
}

/* A filter's or test's name, with dots in it perhaps. */
static int dotted_name(struct parser *p, struct node *n)
{
	const char *s = p->token.s;

	for (;;) {
		if (p->token.type != T_NAME) {
			jinja_fail(p, "a name is wanted here");
			return -1;
		}
		n->name = jinja_name(p, s, (size_t)(p->token.s + p->token.n - s));
		if (!n->name || jinja_advance(p))
			return -1;
		if (!jinja_at_op(p, '.'))
			return 0;
		if (jinja_advance(p))
			return -1;
	}
}

/* The filter whose name stands at the cursor. */
static struct node *filter(struct parser *p, struct node *value)
{
	struct node *n = jinja_node(p, N_FILTER);

	if (!n || dotted_name(p, n))
		return NULL;
	n->a = value;
	if (jinja_at_op(p, '(') && arguments(p, &n->b))
		return NULL;
	return n;
}

struct node *jinja_parse_filters(struct parser *p, struct node *value)
{
	struct node *n = filter(p, value);

	while (n && jinja_at_op(p, '|'))
		n = jinja_advance(p) ? NULL : filter(p, n);
	return n;
}

/* The one argument that a test takes without parentheses. */
static struct node *bare_argument(struct parser *p)
{
	struct node *n;

	if (jinja_at_name(p, "is"))
		return jinja_fail(p, "tests cannot be chained with is");
	n = jinja_node(p, N_ARG);
	if (n)
		n->a = jinja_parse_primary(p);
	if (n && n->a)
		n->a = jinja_parse_trailers(p, n->a);
	return n && n->a ? n : NULL;
}

static struct node *test(struct parser *p, struct node *value)
{
	static const char *const stops[] = { "else", "or", "and", NULL };
	struct node *n = jinja_node(p, N_TEST);
	bool negated = false;

	if (!n || jinja_advance(p))
		return NULL;
	n->a = value;
	if (jinja_at_name(p, "not")) {
		negated = true;
		if (jinja_advance(p))
			return NULL;
	}
	if (dotted_name(p, n))
		return NULL;
	if (jinja_at_op(p, '(')) {
		if (arguments(p, &n->b))
			return NULL;
	} else if ((p->token.type == T_NAME && !jinja_at_any(p, stops)) || p->token.type == T_STRING || p->token.type == T_INT ||
			p->token.type == T_FLOAT || jinja_at_op(p, '[') || jinja_at_op(p, '{')) {
		n->b = bare_argument(p);
		if (!n->b)
			return NULL;
	}
	if (negated) {
		struct node *not = jinja_node(p, N_NOT);

		if (not)
			not->a = n;
		return not;
	}
	return n;
}

struct node *jinja_parse_trailers(struct parser *p, struct node *n)
{
	while (n) {
		if (jinja_at_op(p, '.'))
			n = dotted(p, n);
		else if (jinja_at_op(p, '['))
			n = subscript(p, n);
		else if (jinja_at_op(p, '('))
			n = call(p, n);
		else
			break;
	}
	return n;
}

struct node *jinja_parse_suffixes(struct parser *p, struct node *n)
{
	n = jinja_parse_trailers(p, n);
	while (n) {
		if (jinja_at_op(p, '|'))
			n = jinja_advance(p) ? NULL : filter(p, n);
		else if (jinja_at_name(p, "is"))
			n = test(p, n);
		else if (jinja_at_op(p, '('))
			n = call(p, n);
		else
			break;
	}
	return n;
}
