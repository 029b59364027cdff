/* Tokens to trees, the half that reads expressions. Binding, loosest first: if-else, or, and, not, comparisons and in, + -, ~, * / // %, **,
 * unary signs, then an operand with what follows it (operand.c). */
#include "priv.h"

#include <string.h>

/* A sign binds tighter than a filter but looser than a subscript: -x[0]|abs is (-(x[0]))|abs. */
static struct node *unary(struct parser *p, bool filters)
{
	struct node *n;
	int sign = jinja_at_op(p, '-') || jinja_at_op(p, '+') ? p->token.op : 0;

	if (jinja_enter(p))
		return NULL;
	if (sign) {
		n = jinja_node(p, N_UNARY);
		if (n) {
			n->op = sign;
			n->a = jinja_advance(p) ? NULL : unary(p, false);
			n = n->a ? n : NULL;
		}
	} else {
		n = jinja_parse_primary(p);
	}
	p->depth--;
	if (n)
		n = filters ? jinja_parse_suffixes(p, n) : jinja_parse_trailers(p, n);
	return n;
}

/* The level of the arithmetic operator at the cursor, loosest 1; 0 if there is none. */
static int level(const struct parser *p)
{
	if (p->token.type != T_OP)
		return 0;
	switch (p->token.op) {
	case '+':
	case '-':
		return 1;
	case '~':
		return 2;
	case '*':
	case '/':
	case '%':
	case OP2('/', '/'):
		return 3;
	case OP2('*', '*'):
		return 4;
	}
	return 0;
}

static struct node *arithmetic(struct parser *p, int loosest)
{
	struct node *n = unary(p, true);

	while (n) {
		int here = level(p), op = p->token.op;

		if (!here || here < loosest)
			break;
		n = jinja_advance(p) ? NULL : jinja_binary(p, N_BINARY, op, n, arithmetic(p, here + 1));
	}
	return n;
}

/* The comparison at the cursor, taken: its code; 0 if there is none; -1. */
static int comparison(struct parser *p)
{
	int op = p->token.op;

	if (p->token.type == T_OP && (op == '<' || op == '>' || op == OP2('=', '=') || op == OP2('!', '=') || op == OP2('<', '=') || op == OP2('>', '=')))
		return jinja_advance(p) ? -1 : op;
	if (jinja_at_name(p, "in"))
		return jinja_advance(p) ? -1 : 'i';
	if (!jinja_at_name(p, "not"))
		return 0;
	if (jinja_peek(p))
		return -1;
	if (p->ahead.type != T_NAME || p->ahead.n != 2 || memcmp(p->ahead.s, "in", 2))
		return 0;
	return jinja_advance(p) || jinja_advance(p) ? -1 : 'n';
}

static struct node *compare(struct parser *p)
{
	struct node *n = arithmetic(p, 1), *first = n, **chain = NULL;

	while (n) {
		int op = comparison(p);
		struct node *operand;

		if (op == 0)
			return n;
		if (op < 0)
			return NULL;
		if (!chain) {
			n = jinja_node(p, N_COMPARE);
			if (!n)
				return NULL;
			n->a = first;
			chain = &n->b;
		}
		operand = jinja_node(p, N_OPERAND);
		if (!operand)
			return NULL;
		operand->op = op;
		operand->a = arithmetic(p, 1);
		if (!operand->a)
			return NULL;
		*chain = operand;
		chain = &operand->next;
	}
	return NULL;
}

static struct node *parse_not(struct parser *p)
{
	struct node *n;

	if (!jinja_at_name(p, "not"))
		return compare(p);
	if (jinja_enter(p))
		return NULL;
	n = jinja_node(p, N_NOT);
	if (n)
		n->a = jinja_advance(p) ? NULL : parse_not(p);
	p->depth--;
	return n && n->a ? n : NULL;
}

static struct node *parse_and(struct parser *p)
{
	struct node *n = parse_not(p);

	while (n && jinja_at_name(p, "and"))
		n = jinja_advance(p) ? NULL : jinja_binary(p, N_AND, 0, n, parse_not(p));
	return n;
}

/* An expression without `if`. */
static struct node *parse_or(struct parser *p)
{
	struct node *n = parse_and(p);

	while (n && jinja_at_name(p, "or"))
		n = jinja_advance(p) ? NULL : jinja_binary(p, N_OR, 0, n, parse_and(p));
	return n;
}

static struct node *conditional(struct parser *p)
{
	struct node *n = parse_or(p);

	while (n && jinja_at_name(p, "if")) {
		struct node *cond = jinja_node(p, N_COND);

		if (!cond || jinja_advance(p))
			return NULL;
		cond->b = n;
		cond->a = parse_or(p);
		if (!cond->a)
			return NULL;
		if (jinja_at_name(p, "else")) {
			cond->c = jinja_advance(p) ? NULL : jinja_parse_expression(p);
			if (!cond->c)
				return NULL;
		}
		n = cond;
	}
	return n;
}

struct node *jinja_parse_expression(struct parser *p)
{
	struct node *n;

	if (jinja_enter(p))
		return NULL;
	n = conditional(p);
	p->depth--;
	return n;
}

static bool tuple_ends(const struct parser *p)
{
	return p->token.type == T_PRINT_END || p->token.type == T_BLOCK_END || jinja_at_op(p, ')') || jinja_at_name(p, "recursive");
}

struct node *jinja_tuple(struct parser *p, struct node *first, struct node *(*item)(struct parser *p), bool (*ends)(const struct parser *p))
{
	struct node *n = jinja_node(p, N_TUPLE), **chain = &first->next;

	if (!n)
		return NULL;
	n->a = first;
	while (jinja_at_op(p, ',')) {
		if (jinja_advance(p))
			return NULL;
		if (ends(p))
			break;
		*chain = item(p);
		if (!*chain)
			return NULL;
		chain = &(*chain)->next;
	}
	return n;
}

struct node *jinja_parse_tuple(struct parser *p, bool conditional_too)
{
	struct node *(*item)(struct parser *) = conditional_too ? jinja_parse_expression : parse_or, *first = item(p);

	return first && jinja_at_op(p, ',') ? jinja_tuple(p, first, item, tuple_ends) : first;
}
