/* Tokens to trees: expressions. */
#include "syntax.h"

#include <string.h>

/* Every operator, loosest first. A sign binds looser than a subscript and tighter than a filter: -x[0]|abs is
 * (-(x[0]))|abs. */
enum level { COND, OR, AND, NOT, COMPARE, SUM, TILDE, PRODUCT, POWER, FILTER, TRAILER };

static struct node *operation(struct parser *p, enum level loosest);

struct node *parse_expression(struct parser *p)
{
	return operation(p, COND);
}

static struct node *unconditional(struct parser *p)
{
	return operation(p, OR);
}

struct node *parse_list(struct parser *p, parse_item *item, const char *ends)
{
	struct node *first = NULL, **link = &first;

	while (!parse_at(p, ends)) {
		*link = item(p);
		link = &(*link)->next;
		if (!parse_take(p, ","))
			break;
	}
	return first;
}

struct node *parse_tuple_of(struct parser *p, parse_item *item, const char *ends)
{
	struct node *first = item(p);

	if (!parse_take(p, ","))
		return first;
	first->next = parse_list(p, item, ends);
	return parse_node(p, N_TUPLE, first, NULL);
}

struct node *parse_tuple(struct parser *p, bool conditional)
{
	return parse_tuple_of(p, conditional ? parse_expression : unconditional, "}} %} ) recursive");
}

struct node *parse_bracketed(struct parser *p, parse_item *item, const char *close)
{
	struct node *first = parse_list(p, item, close);

	parse_expect(p, close);
	return first;
}

static struct node *pair(struct parser *p)
{
	struct node *n = parse_node(p, N_PAIR, parse_expression(p), NULL);

	parse_expect(p, ":");
	n->b = parse_expression(p);
	return n;
}

static struct node *parenthesised(struct parser *p)
{
	struct node *n = parse_at(p, ")") ? parse_node(p, N_TUPLE, NULL, NULL) : parse_tuple(p, true);

	parse_expect(p, ")");
	return n;
}

/* A constant: the number at the cursor, or the strings, as adjacent ones are one. */
static struct node *constant(struct parser *p)
{
	struct node *n = parse_node(p, N_CONST, NULL, NULL);

	n->value = p->token.type == T_NUMBER ? p->token.value : jv_str("", 0);
	if (p->token.type == T_NUMBER)
		parse_advance(p);
	else
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
		{ "true True", { .kind = JV_BOOL, .b = true } }, { "false False", { .kind = JV_BOOL } },
		{ "none None", { .kind = JV_NONE } },
	};
	struct node *n = parse_node(p, N_CONST, NULL, NULL);

	for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
		if (parse_take(p, constants[i].name)) {
			n->value = constants[i].value;
			return n;
		}
	}
	n->type = N_NAME;
	n->name = parse_name(p);
	p->uses |= n->name == p->t->caller ? MACRO_CALLER : n->name == p->t->varargs ? MACRO_VARARGS
		: n->name == p->t->kwargs ? MACRO_KWARGS : 0;
	return n;
}

/* A value, with nothing after it. */
static struct node *primary(struct parser *p)
{
	if (p->token.type == T_NAME)
		return name(p);
	if (p->token.type == T_STRING || p->token.type == T_NUMBER)
		return constant(p);
	if (parse_take(p, "("))
		return parenthesised(p);
	if (parse_take(p, "["))
		return parse_node(p, N_LIST, parse_bracketed(p, parse_expression, "]"), NULL);
	if (parse_take(p, "{"))
		return parse_node(p, N_DICT, parse_bracketed(p, pair, "}"), NULL);
	env_fail(p->e, "expected an expression");
}

/* Is the token after the one at the cursor this name or sign? */
static bool next_is(const struct parser *p, const char *s)
{
	struct lexer ahead = p->lexer;
	const struct parser next = { .token = lex(&ahead) };

	return parse_at(&next, s);
}

static struct node *argument(struct parser *p)
{
	struct node *n = parse_node(p, N_ARG, NULL, NULL);

	if (parse_take(p, "*")) {
		n->op = '*';
	} else if (parse_take(p, "**")) {
		n->op = OP2('*', '*');
	} else if (p->token.type == T_NAME && next_is(p, "=")) {
		n->name = parse_name(p);
		parse_advance(p);
	}
	n->a = parse_expression(p);
	return n;
}

/* The arguments after the opening parenthesis. */
static struct node *arguments(struct parser *p)
{
	struct node *first = parse_bracketed(p, argument, ")");
	bool named = false;

	for (const struct node *n = first; n; n = n->next) {
		if (named && !n->name && !n->op)
			env_fail(p->e, "a positional argument follows a named one");
		named |= n->name || n->op == OP2('*', '*');
	}
	return first;
}

struct operator {
	const char *s;
	enum level level;
	struct node *(*parse)(struct parser *p, struct node *left, const struct operator *o);  /* what follows it */
	enum node_type type;
	int op;
};

static const struct operator *take_operator(struct parser *p, enum level loosest, enum level tightest);

static struct node *infix(struct parser *p, struct node *left, const struct operator *o)
{
	struct node *n = parse_node(p, o->type, left, operation(p, o->level + 1));

	n->op = o->op;
	return n;
}

/* a < b < c is one comparison of three operands. */
static struct node *comparison(struct parser *p, struct node *left, const struct operator *o)
{
	struct node *n = parse_node(p, N_COMPARE, left, NULL), **link = &n->b;

	for (; o; o = take_operator(p, COMPARE, COMPARE)) {
		*link = parse_node(p, N_OPERAND, operation(p, COMPARE + 1), NULL);
		(*link)->op = o->op;
		link = &(*link)->next;
	}
	return n;
}

static struct node *conditional(struct parser *p, struct node *value, const struct operator *o)
{
	struct node *n = parse_node(p, N_COND, value, unconditional(p));

	n->c = parse_take(p, "else") ? parse_expression(p) : NULL;
	return n;
}

static struct node *attribute(struct parser *p, struct node *object, const struct operator *o)
{
	struct node *n;

	if (p->token.type == T_NUMBER && p->token.value.kind == JV_INT)
		return parse_node(p, N_ITEM, object, constant(p));
	if (p->token.type != T_NAME)
		env_fail(p->e, "expected a name or a number after '.'");
	n = parse_node(p, N_ATTR, object, NULL);
	n->name = parse_name(p);
	return n;
}

/* One bound of a slice, None if it is not there. */
static struct node *bound(struct parser *p, bool there)
{
	struct node *none;

	if (there && !parse_at(p, ": ]"))
		return parse_expression(p);
	none = parse_node(p, N_CONST, NULL, NULL);
	none->value = jv_none;
	return none;
}

static struct node *subscript(struct parser *p, struct node *object, const struct operator *o)
{
	struct node *key;

	if (parse_at(p, "] ,"))
		env_fail(p->e, "expected a subscript");
	key = bound(p, true);
	if (parse_take(p, ":")) {
		key->next = bound(p, true);
		key->next->next = bound(p, parse_take(p, ":"));
		parse_expect(p, "]");
		return parse_node(p, N_SLICE, object, key);
	}
	if (parse_take(p, ",")) {
		key->next = parse_bracketed(p, parse_expression, "]");
		return parse_node(p, N_ITEM, object, parse_node(p, N_TUPLE, key, NULL));
	}
	parse_expect(p, "]");
	return parse_node(p, N_ITEM, object, key);
}

static struct node *call(struct parser *p, struct node *callee, const struct operator *o)
{
	struct node *n = parse_node(p, N_CALL, callee, NULL);

	n->b = arguments(p);
	return n;
}

/* The name of a filter or test, which may have dots in it. */
static const struct name *dotted_name(struct parser *p)
{
	const char *s = p->token.s, *end;

	do {
		if (p->token.type != T_NAME)
			env_fail(p->e, "expected a name");
		end = p->token.s + p->token.n;
		parse_advance(p);
	} while (parse_take(p, "."));
	return parse_intern(p, s, (size_t)(end - s));
}

static struct node *filter(struct parser *p, struct node *value, const struct operator *o)
{
	struct node *n = parse_node(p, N_FILTER, value, NULL);

	n->name = dotted_name(p);
	n->b = parse_take(p, "(") ? arguments(p) : NULL;
	return n;
}

struct node *parse_filters(struct parser *p, struct node *value)
{
	do
		value = filter(p, value, NULL);
	while (parse_take(p, "|"));
	return value;
}

/* Is the cursor on the argument that a test takes without parentheses? */
static bool at_bare_argument(const struct parser *p)
{
	if (parse_at(p, "is"))
		env_fail(p->e, "tests cannot be chained with is");
	if (p->token.type == T_NAME)
		return !parse_at(p, "else or and");
	return p->token.type == T_STRING || p->token.type == T_NUMBER || parse_at(p, "[ {");
}

static struct node *test(struct parser *p, struct node *value, const struct operator *o)
{
	bool negated = parse_take(p, "not");
	struct node *n = parse_node(p, N_TEST, value, NULL);

	n->name = dotted_name(p);
	if (parse_take(p, "("))
		n->b = arguments(p);
	else if (at_bare_argument(p))
		n->b = parse_node(p, N_ARG, operation(p, TRAILER), NULL);
	return negated ? parse_node(p, N_NOT, n, NULL) : n;
}

static const struct operator operators[] = {
	{ ".", TRAILER, attribute, 0, 0 }, { "[", TRAILER, subscript, 0, 0 }, { "(", TRAILER, call, 0, 0 },
	{ "|", FILTER, filter, 0, 0 }, { "is", FILTER, test, 0, 0 }, { "(", FILTER, call, 0, 0 },
	{ "**", POWER, infix, N_BINARY, OP2('*', '*') }, { "*", PRODUCT, infix, N_BINARY, '*' },
	{ "/", PRODUCT, infix, N_BINARY, '/' }, { "//", PRODUCT, infix, N_BINARY, OP2('/', '/') },
	{ "%", PRODUCT, infix, N_BINARY, '%' }, { "~", TILDE, infix, N_BINARY, '~' },
	{ "+", SUM, infix, N_BINARY, '+' }, { "-", SUM, infix, N_BINARY, '-' },
	{ "==", COMPARE, comparison, 0, OP2('=', '=') }, { "!=", COMPARE, comparison, 0, OP2('!', '=') },
	{ "<", COMPARE, comparison, 0, '<' }, { "<=", COMPARE, comparison, 0, OP2('<', '=') },
	{ ">", COMPARE, comparison, 0, '>' }, { ">=", COMPARE, comparison, 0, OP2('>', '=') },
	{ "in", COMPARE, comparison, 0, 'i' }, { "not", COMPARE, comparison, 0, 'n' },
	{ "and", AND, infix, N_AND, 0 }, { "or", OR, infix, N_OR, 0 }, { "if", COND, conditional, 0, 0 },
};

/* Takes the operator at the cursor if its level is one of these. */
static const struct operator *take_operator(struct parser *p, enum level loosest, enum level tightest)
{
	for (size_t i = 0; p->token.n && i < sizeof operators / sizeof *operators; i++) {
		const struct operator *o = &operators[i];

		if (o->level < loosest || o->level > tightest || *p->token.s != *o->s || !parse_at(p, o->s))
			continue;
		if (o->op == 'n' && !next_is(p, "in"))
			return NULL;
		parse_advance(p);
		if (o->op == 'n')
			parse_advance(p);
		return o;
	}
	return NULL;
}

/* Operands, and operators that bind as tightly as `loosest` or tighter. */
static struct node *operation(struct parser *p, enum level loosest)
{
	const struct operator *o;
	enum level tightest = TRAILER;
	struct node *n;

	env_enter(p->e);
	if (loosest <= NOT && parse_at(p, "not")) {
		n = parse_node(p, N_NOT, NULL, NULL);
		parse_advance(p);
		n->a = operation(p, NOT);
	} else if (parse_at(p, "- +")) {
		n = parse_node(p, N_UNARY, NULL, NULL);
		n->op = *p->token.s;
		parse_advance(p);
		n->a = operation(p, TRAILER);
	} else {
		n = primary(p);
	}
	for (; (o = take_operator(p, loosest, tightest)); tightest = o->level)
		n = o->parse(p, n, o);
	p->e->depth--;
	return n;
}
