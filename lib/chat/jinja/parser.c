/* What both halves of the parser stand on: the token at the cursor and the next one, nodes, names. */
#include "priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 4096 };

struct node *jinja_fail(struct parser *p, const char *format, ...)
{
	char reason[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	why(p->w, "template line %d: %s", p->token.line, reason);
	return NULL;
}

int jinja_peek(struct parser *p)
{
	if (p->has_ahead)
		return 0;
	if (jinja_lex(&p->lexer, &p->ahead))
		return -1;
	p->has_ahead = true;
	return 0;
}

int jinja_advance(struct parser *p)
{
	if (!p->has_ahead)
		return jinja_lex(&p->lexer, &p->token);
	p->token = p->ahead;
	p->has_ahead = false;
	return 0;
}

bool jinja_at_name(const struct parser *p, const char *name)
{
	return p->token.type == T_NAME && p->token.n == strlen(name) && !memcmp(p->token.s, name, p->token.n);
}

bool jinja_at_any(const struct parser *p, const char *const *names)
{
	for (; *names; names++)
		if (jinja_at_name(p, *names))
			return true;
	return false;
}

bool jinja_at_op(const struct parser *p, int op)
{
	return p->token.type == T_OP && p->token.op == op;
}

int jinja_expect_op(struct parser *p, int op)
{
	if (!jinja_at_op(p, op)) {
		jinja_fail(p, "'%c' is wanted here", op);
		return -1;
	}
	return jinja_advance(p);
}

int jinja_enter(struct parser *p)
{
	if (p->depth >= p->depth_max) {
		jinja_fail(p, "nested too deeply");
		return -1;
	}
	p->depth++;
	return 0;
}

struct node *jinja_node(struct parser *p, enum node_type type)
{
	struct node *n = arena_array(&p->t->arena, 1, sizeof *n);

	if (!n)
		return jinja_fail(p, "out of memory");
	n->type = (uint8_t)type;
	n->line = p->token.line;
	return n;
}

struct node *jinja_binary(struct parser *p, enum node_type type, int op, struct node *a, struct node *b)
{
	struct node *n = a && b ? jinja_node(p, type) : NULL;

	if (n) {
		n->op = op;
		n->a = a;
		n->b = b;
	}
	return n;
}

const struct name *jinja_name(struct parser *p, const char *s, size_t n)
{
	unsigned hash = 2166136261u;
	struct name *name, **slot;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)s[i]) * 16777619u;
	slot = &p->t->names[hash % (sizeof p->t->names / sizeof *p->t->names)];
	for (name = *slot; name; name = name->next)
		if (name->n == n && !memcmp(name->s, s, n))
			return name;
	if (p->t->n_names++ == MOST_NAMES) {
		jinja_fail(p, "more than %d different names", MOST_NAMES);
		return NULL;
	}
	name = arena_alloc(&p->t->arena, sizeof *name);
	if (!name) {
		jinja_fail(p, "out of memory");
		return NULL;
	}
	*name = (struct name){ s, (uint32_t)n, *slot };
	*slot = name;
	return name;
}
