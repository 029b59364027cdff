/* Tokens to trees: expressions. */
#include "syntax.h"

#include <string.h>

static struct node *node_of(struct parser *p, enum node_type type, int op, struct node *a, struct node *b)
{
	struct node *n = parse_node(p, type);

	n->op = op;
	n->a = a;
	n->b = b;
	return n;
}

/* The token at the cursor as a constant. */
static struct node *constant_token(struct parser *p, struct jv v)
{
	struct node *n = parse_node(p, N_CONST);

	n->value = v;
	parse_advance(p);
	return n;
}

struct node *parse_list(struct parser *p, int close, struct node *(*item)(struct parser *p))
{
	struct node *first = NULL, **link = &first;

	while (!parse_at_op(p, close)) {
		*link = item(p);
		link = &(*link)->next;
		if (!parse_at_op(p, close))
			parse_expect_op(p, ',');
	}
	parse_advance(p);
	return first;
}

static struct node *pair(struct parser *p)
{
	struct node *n = node_of(p, N_PAIR, 0, parse_expression(p), NULL);

	parse_expect_op(p, ':');
	n->b = parse_expression(p);
	return n;
}

static struct node *parenthesised(struct parser *p)
{
	struct node *n = parse_at_op(p, ')') ? parse_node(p, N_TUPLE) : parse_tuple(p, true);

	parse_expect_op(p, ')');
	return n;
}

/* Adjacent strings are one. */
static struct node *strings(struct parser *p)
{
	struct node *n = parse_node(p, N_CONST);

	n->value = jv_str("", 0);
	for (; p->token.type == T_STRING; parse_advance(p))
		n->value = jv_concat(p->e, n->value, jv_str(p->token.s, p->token.n));
	return n;
}

static struct node *name(struct parser *p)
{
	static const struct {
		const char *name;
		struct jv value;
	} constants[] = {
		{ "true", { .kind = JV_BOOL, .b = true } }, { "True", { .kind = JV_BOOL, .b = true } },
		{ "false", { .kind = JV_BOOL } }, { "False", { .kind = JV_BOOL } },
		{ "none", { .kind = JV_NONE } }, { "None", { .kind = JV_NONE } },
	};
	struct node *n;

	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
		if (parse_at_name(p, constants[i].name))
			return constant_token(p, constants[i].value);
	n = parse_node(p, N_NAME);
	n->name = parse_name(p);
	p->uses |= n->name == p->t->caller ? MACRO_CALLER : n->name == p->t->varargs ? MACRO_VARARGS :
		n->name == p->t->kwargs ? MACRO_KWARGS : 0;
	return n;
}

/* A value, with nothing after it. */
static struct node *primary(struct parser *p)
{
	switch (p->token.type) {
	case T_NAME:
		return name(p);
	case T_STRING:
		return strings(p);
	case T_NUMBER:
		return constant_token(p, p->token.value);
	default:
		break;
	}
	if (parse_take_op(p, '('))
		return parenthesised(p);
	if (parse_take_op(p, '['))
		return node_of(p, N_LIST, 0, parse_list(p, ']', parse_expression), NULL);
	if (parse_take_op(p, '{'))
		return node_of(p, N_DICT, 0, parse_list(p, '}', pair), NULL);
	env_fail(p->e, "expected an expression");
}

static void look_ahead(struct parser *p)
{
	if (!p->has_ahead) {
		p->ahead = lex(&p->lexer);
		p->has_ahead = true;
	}
}

static struct node *argument(struct parser *p)
{
	struct node *n = parse_node(p, N_ARG);

	if (parse_at_op(p, '*') || parse_at_op(p, OP2('*', '*'))) {
		n->op = p->token.op;
		parse_advance(p);
	} else if (p->token.type == T_NAME) {
		look_ahead(p);
		if (p->ahead.type == T_OP && p->ahead.op == '=') {
			n->name = parse_name(p);
			parse_advance(p);
		}
	}
	n->a = parse_expression(p);
	return n;
}

/* The arguments after the opening parenthesis. */
static struct node *arguments(struct parser *p)
{
	struct node *first = parse_list(p, ')', argument);
	bool named = false;

	for (const struct node *n = first; n; n = n->next) {
		if (named && !n->name && !n->op)
			env_fail(p->e, "a positional argument follows a named one");
		named |= n->name || n->op == OP2('*', '*');
	}
	return first;
}

/* What follows the dot. */
static struct node *attribute(struct parser *p, struct node *object)
{
	struct node *n;

	if (p->token.type == T_NUMBER && p->token.value.kind == JV_INT)
		return node_of(p, N_ITEM, 0, object, constant_token(p, p->token.value));
	if (p->token.type != T_NAME)
		env_fail(p->e, "expected a name or a number after '.'");
	n = node_of(p, N_ATTR, 0, object, NULL);
	n->value = jv_str(p->token.s, p->token.n);
	parse_advance(p);
	return n;
}

/* One bound of a slice, or NULL. */
static struct node *bound(struct parser *p)
{
	return parse_at_op(p, ':') || parse_at_op(p, ']') || parse_at_op(p, ',') ? NULL : parse_expression(p);
}

/* What follows the opening bracket. */
static struct node *subscript(struct parser *p, struct node *object)
{
	struct node *key = bound(p), *n;

	if (parse_take_op(p, ':')) {
		n = node_of(p, N_SLICE, 0, object, key);
		n->c = bound(p);
		n->d = parse_take_op(p, ':') ? bound(p) : NULL;
		parse_expect_op(p, ']');
		return n;
	}
	if (!key)
		env_fail(p->e, "expected a subscript");
	if (parse_take_op(p, ',')) {
		key->next = parse_list(p, ']', parse_expression);
		return node_of(p, N_ITEM, 0, object, node_of(p, N_TUPLE, 0, key, NULL));
	}
	parse_expect_op(p, ']');
	return node_of(p, N_ITEM, 0, object, key);
}

static struct node *call(struct parser *p, struct node *callee)
{
	struct node *n = node_of(p, N_CALL, 0, callee, NULL);

	n->b = arguments(p);
	return n;
}

/* .name, [..] and (..) after n. */
static struct node *trailers(struct parser *p, struct node *n)
{
	for (;;) {
		if (parse_take_op(p, '.'))
			n = attribute(p, n);
		else if (parse_take_op(p, '['))
			n = subscript(p, n);
		else if (parse_take_op(p, '('))
			n = call(p, n);
		else
			return n;
	}
}

/* The name of a filter or test, which may have dots in it. */
static const struct name *dotted_name(struct parser *p)
{
	const char *s = p->token.s;
	const struct name *name;

	do {
		if (p->token.type != T_NAME)
			env_fail(p->e, "expected a name");
		name = parse_intern(p, s, (size_t)(p->token.s + p->token.n - s));
		parse_advance(p);
	} while (parse_take_op(p, '.'));
	return name;
}

struct node *parse_filters(struct parser *p, struct node *value)
{
	do {
		struct node *n = node_of(p, N_FILTER, 0, value, NULL);

		n->name = dotted_name(p);
		n->b = parse_take_op(p, '(') ? arguments(p) : NULL;
		value = n;
	} while (parse_take_op(p, '|'));
	return value;
}

/* Is the cursor on the argument that a test takes without parentheses? */
static bool at_bare_argument(const struct parser *p)
{
	switch (p->token.type) {
	case T_NAME:
		if (parse_at_name(p, "is"))
			env_fail(p->e, "tests cannot be chained with is");
		return !parse_at_name(p, "else") && !parse_at_name(p, "or") && !parse_at_name(p, "and");
	case T_STRING:
	case T_NUMBER:
		return true;
	default:
		return parse_at_op(p, '[') || parse_at_op(p, '{');
	}
}

static struct node *test(struct parser *p, struct node *value)
{
	bool negated = parse_take_name(p, "not");
	struct node *n = node_of(p, N_TEST, 0, value, NULL);

	n->name = dotted_name(p);
	if (parse_take_op(p, '(')) {
		n->b = arguments(p);
	} else if (at_bare_argument(p)) {
		n->b = parse_node(p, N_ARG);
		n->b->a = trailers(p, primary(p));
	}
	return negated ? node_of(p, N_NOT, 0, n, NULL) : n;
}

/* A sign binds tighter than a filter but looser than a subscript: -x[0]|abs is (-(x[0]))|abs. */
static struct node *unary(struct parser *p, bool filters)
{
	struct node *n;

	env_enter(p->e);
	if (parse_at_op(p, '-') || parse_at_op(p, '+')) {
		n = node_of(p, N_UNARY, p->token.op, NULL, NULL);
		parse_advance(p);
		n->a = unary(p, false);
	} else {
		n = primary(p);
	}
	p->e->depth--;
	n = trailers(p, n);
	while (filters) {
		if (parse_take_op(p, '|'))
			n = parse_filters(p, n);
		else if (parse_take_name(p, "is"))
			n = test(p, n);
		else if (parse_take_op(p, '('))
			n = call(p, n);
		else
			break;
	}
	return n;
}

/* The binary operators by precedence, loosest first. The prefix `not` binds tighter than `and` and looser than the
 * comparisons. */
enum level { NONE, OR, AND, NOT, COMPARE, SUM, TILDE, PRODUCT, POWER };

static const struct operator {
	const char *name;           /* a word, or NULL */
	int op;
	enum level level;
	enum node_type type;
} operators[] = {
	{ "or", 0, OR, N_OR }, { "and", 0, AND, N_AND },
	{ "in", 'i', COMPARE, N_OPERAND }, { "not", 'n', COMPARE, N_OPERAND },
	{ NULL, '<', COMPARE, N_OPERAND }, { NULL, OP2('<', '='), COMPARE, N_OPERAND },
	{ NULL, '>', COMPARE, N_OPERAND }, { NULL, OP2('>', '='), COMPARE, N_OPERAND },
	{ NULL, OP2('=', '='), COMPARE, N_OPERAND }, { NULL, OP2('!', '='), COMPARE, N_OPERAND },
	{ NULL, '+', SUM, N_BINARY }, { NULL, '-', SUM, N_BINARY }, { NULL, '~', TILDE, N_BINARY },
	{ NULL, '*', PRODUCT, N_BINARY }, { NULL, '/', PRODUCT, N_BINARY }, { NULL, '%', PRODUCT, N_BINARY },
	{ NULL, OP2('/', '/'), PRODUCT, N_BINARY }, { NULL, OP2('*', '*'), POWER, N_BINARY },
};

/* Takes the operator at the cursor if it binds as tightly as `loosest` or tighter. */
static const struct operator *take_operator(struct parser *p, enum level loosest)
{
	for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
		const struct operator *o = &operators[i];

		if (o->level < loosest || !(o->name ? parse_at_name(p, o->name) : parse_at_op(p, o->op)))
			continue;
		if (o->op == 'n') {
			look_ahead(p);
			if (p->ahead.type != T_NAME || p->ahead.n != 2 || memcmp(p->ahead.s, "in", 2))
				return NULL;
			parse_advance(p);
		}
		parse_advance(p);
		return o;
	}
	return NULL;
}

/* Operands, and operators that bind as tightly as `loosest` or tighter. */
static struct node *binary(struct parser *p, enum level loosest)
{
	const struct operator *o;
	struct node *n, **link = NULL;

	if (loosest <= NOT && parse_at_name(p, "not")) {
		n = parse_node(p, N_NOT);
		parse_advance(p);
		env_enter(p->e);
		n->a = binary(p, NOT);
		p->e->depth--;
	} else {
		n = unary(p, true);
	}
	while ((o = take_operator(p, loosest))) {
		struct node *right = binary(p, o->level + 1);

		if (o->level != COMPARE) {
			n = node_of(p, o->type, o->op, n, right);
			continue;
		}
		if (!link) {
			n = node_of(p, N_COMPARE, 0, n, NULL);
			link = &n->b;
		}
		*link = node_of(p, N_OPERAND, o->op, right, NULL);
		link = &(*link)->next;
	}
	return n;
}

static struct node *unconditional(struct parser *p)
{
	return binary(p, OR);
}

struct node *parse_expression(struct parser *p)
{
	struct node *n;

	env_enter(p->e);
	n = unconditional(p);
	while (parse_take_name(p, "if")) {
		n = node_of(p, N_COND, 0, unconditional(p), n);
		if (parse_take_name(p, "else"))
			n->c = parse_expression(p);
	}
	p->e->depth--;
	return n;
}

static bool tuple_ends(const struct parser *p)
{
	return p->token.type == T_PRINT_END || p->token.type == T_BLOCK_END || parse_at_op(p, ')') ||
		parse_at_name(p, "recursive");
}

struct node *parse_more(struct parser *p, struct node *first, struct node *(*item)(struct parser *p),
	bool (*ends)(const struct parser *p))
{
	struct node *n = node_of(p, N_TUPLE, 0, first, NULL), **link = &first->next;

	while (parse_take_op(p, ',') && !ends(p)) {
		*link = item(p);
		link = &(*link)->next;
	}
	return n;
}

struct node *parse_tuple(struct parser *p, bool conditional)
{
	struct node *(*item)(struct parser *) = conditional ? parse_expression : unconditional, *first = item(p);

	return parse_at_op(p, ',') ? parse_more(p, first, item, tuple_ends) : first;
}
