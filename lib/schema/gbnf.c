/* Expressions, rules, which rules have a finite text, and printing. */
#include "gbnf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum expr_kind { NEVER, TERMINAL, SEQUENCE, ALTERNATIVES, REPEAT, RULE };

struct gbnf_expr {
	uint8_t kind;                           /* enum expr_kind */
	uint8_t placed;                         /* it is part of another one or a rule's body */
	uint16_t primitives;                    /* TERMINAL: those that it names, a set of bits */
	uint32_t low, high;                     /* REPEAT */
	struct gbnf_expr *next;                 /* in a list */
	union {
		struct {
			const char *s;
			size_t n;
		} text;                         /* TERMINAL: as it is printed */
		struct {
			struct gbnf_expr *first, *last;
		} list;                         /* SEQUENCE, ALTERNATIVES; REPEAT: one */
		struct gbnf_rule *rule;
	} is;
};

struct gbnf_rule {
	char name[48];
	const char *label;
	struct gbnf_expr *body;                 /* NULL until it is defined */
	struct gbnf_rule *next;                 /* in order of definition; once printing begins, of printing */
	int finite, seen;
};

static struct gbnf_expr never = { .kind = NEVER };

/* Rules that all schemas share. */
static const struct {
	const char *name, *body;
	unsigned uses;                          /* other ones: a set of bits */
} primitives[GBNF_PRIMITIVES] = {
#define USES(p) (1u << GBNF_##p)
	[GBNF_SPACE] = { "space", "| \" \" | \"\\n\" [ \\t]{0,20}", 0 },
	[GBNF_PLAIN] = { "plain", "[^\"\\\\\\x7F\\x00-\\x1F]", 0 },
	[GBNF_CHAR] = { "char", "plain | \"\\\\\" ([\"\\\\/bfnrt] | \"u\" unit)", USES(PLAIN) | USES(UNIT) },
	/* the digits of \u; surrogates only in pairs */
	[GBNF_UNIT] = { "unit", "[0-9a-cA-CefEF] hex{3} | [dD] [0-7] hex{2}"
		" | [dD] [89abAB] hex{2} \"\\\\u\" [dD] [c-fC-F] hex{2}", USES(HEX) },
	[GBNF_HEX] = { "hex", "[0-9a-fA-F]", 0 },
	[GBNF_STRING] = { "string", "\"\\\"\" char* \"\\\"\"", USES(CHAR) },
	/* up to 2^63 - 1 */
	[GBNF_INTEGER] = { "integer", "(\"0\" | \"-\"? ([1-9] [0-9]{0,17} | large)) \".0\"?", USES(LARGE) },
	[GBNF_LARGE] = { "large", "[1-8] [0-9]{18} | \"9\" ([01] [0-9]{17} | \"2\" ([01] [0-9]{16} | \"2\" ([0-2]"
		" [0-9]{15}"
		" | \"3\" ([0-2] [0-9]{14} | \"3\" ([0-6] [0-9]{13} | \"7\" ([01] [0-9]{12} | \"20\" ([0-2] [0-9]{10}"
		" | \"3\" ([0-5] [0-9]{9} | \"6\" ([0-7] [0-9]{8} | \"8\" ([0-4] [0-9]{7} | \"5\" ([0-3] [0-9]{6}"
		" | \"4\" ([0-6] [0-9]{5} | \"7\" ([0-6] [0-9]{4} | \"7\" ([0-4] [0-9]{3} | \"5\" ([0-7] [0-9]{2}"
		" | \"80\" [0-7])))))))))))))))", 0 },
	[GBNF_NUMBER] = { "number",
		"\"-\"? (\"0\" | [1-9] [0-9]{0,18}) (\".\" [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?", 0 },
	[GBNF_VALUE] = { "value", "object | array | string | number | \"true\" | \"false\" | \"null\"",
		USES(OBJECT) | USES(ARRAY) | USES(STRING) | USES(NUMBER) },
	[GBNF_OBJECT] = { "object", "\"{\" space (member (\",\" space member)*)? \"}\"", USES(SPACE) | USES(MEMBER) },
	[GBNF_MEMBER] = { "member", "string space \":\" space value space", USES(STRING) | USES(SPACE) | USES(VALUE) },
	[GBNF_ARRAY] = { "array",
		"\"[\" space (value space (\",\" space value space)*)? \"]\"", USES(SPACE) | USES(VALUE) },
#undef USES
};

/* ---- making expressions ---- */

struct gbnf_expr *gbnf_never(void)
{
	return &never;
}

int gbnf_is_never(const struct gbnf_expr *e)
{
	return e->kind == NEVER || (e->kind == ALTERNATIVES && !e->is.list.first);
}

static struct gbnf_expr *make(struct gbnf *g, enum expr_kind kind)
{
	struct gbnf_expr *e = g->failed ? NULL : arena_array(&g->arena, 1, sizeof *e);

	g->failed |= !e;
	if (!e)
		return &never;
	e->kind = (uint8_t)kind;
	return e;
}

/* s[n] is borrowed. */
static struct gbnf_expr *terminal(struct gbnf *g, const char *s, size_t n, unsigned names)
{
	struct gbnf_expr *e = make(g, TERMINAL);

	if (g->failed)
		return &never;
	e->primitives = (uint16_t)names;
	e->is.text.s = s;
	e->is.text.n = n;
	return e;
}

struct gbnf_expr *gbnf_primitive(struct gbnf *g, enum gbnf_primitive p)
{
	return terminal(g, primitives[p].name, strlen(primitives[p].name), 1u << p);
}

/* s[n] between two brackets; in quotes, with a backslash before quotes and backslashes. */
static struct gbnf_expr *bracketed(struct gbnf *g, const char *bracket, const char *s, size_t n)
{
	char *copy = g->failed ? NULL : arena_text(&g->arena, 2 * n + 2), *to = copy;

	g->failed |= !copy;
	if (!copy)
		return &never;
	*to++ = bracket[0];
	for (; n--; *to++ = *s++)
		if (*bracket == '"' && (*s == '"' || *s == '\\'))
			*to++ = '\\';
	*to++ = bracket[1];
	return terminal(g, copy, (size_t)(to - copy), 0);
}

struct gbnf_expr *gbnf_text(struct gbnf *g, const char *s, size_t n)
{
	return n ? bracketed(g, "\"\"", s, n) : gbnf_sequence(g);
}

struct gbnf_expr *gbnf_class(struct gbnf *g, const char *s, size_t n)
{
	return bracketed(g, "[]", s, n);
}

void gbnf_spell(struct bytes *class, uint32_t point)
{
	char text[16];

	if ((point >= '0' && point <= '9') || (point >= 'A' && point <= 'Z') || (point >= 'a' && point <= 'z'))
		snprintf(text, sizeof text, "%c", (char)point);
	else
		snprintf(text, sizeof text, point < 0x100 ? "\\x%02X" : point < 0x10000 ? "\\u%04X" : "\\U%08X",
			(unsigned)point);
	bytes_puts(class, text);
}

struct gbnf_expr *gbnf_alternatives(struct gbnf *g)
{
	return make(g, ALTERNATIVES);
}

struct gbnf_expr *gbnf_sequence(struct gbnf *g)
{
	return make(g, SEQUENCE);
}

/* The expression, or a copy if it is placed already. */
static struct gbnf_expr *placed(struct gbnf *g, struct gbnf_expr *e)
{
	struct gbnf_expr *copy = e->placed ? make(g, e->kind) : e;

	if (g->failed)
		return &never;
	if (e->placed)
		*copy = *e;
	copy->placed = 1;
	copy->next = NULL;
	return copy;
}

void gbnf_add(struct gbnf *g, struct gbnf_expr *list, struct gbnf_expr *e)
{
	if (list->kind == NEVER || (list->kind == ALTERNATIVES && gbnf_is_never(e)))
		return;
	if (list->kind == SEQUENCE && e->kind == SEQUENCE && !e->is.list.first)
		return;
	if (gbnf_is_never(e)) {
		list->kind = NEVER;
		return;
	}
	e = placed(g, e);
	if (g->failed)
		return;
	if (list->is.list.last)
		list->is.list.last->next = e;
	else
		list->is.list.first = e;
	list->is.list.last = e;
}

struct gbnf_expr *gbnf_join(struct gbnf *g, const char *format, ...)
{
	struct gbnf_expr *list = gbnf_sequence(g);
	va_list ap;

	va_start(ap, format);
	for (size_t n; *format; format += n ? n : 1) {
		n = strcspn(format, "%_");
		gbnf_add(g, list, n ? gbnf_text(g, format, n) : *format == '_' ? gbnf_primitive(g, GBNF_SPACE)
			: va_arg(ap, struct gbnf_expr *));
	}
	va_end(ap);
	return list;
}

struct gbnf_expr *gbnf_repeat(struct gbnf *g, struct gbnf_expr *e, uint32_t low, uint32_t high)
{
	struct gbnf_expr *r;

	if (!high || (gbnf_is_never(e) && !low))
		return gbnf_sequence(g);
	if (gbnf_is_never(e))
		return &never;
	r = make(g, REPEAT);
	if (g->failed)
		return r;
	r->low = low;
	r->high = high;
	gbnf_add(g, r, e);
	return r;
}

/* ---- rules ---- */

static int is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The number makes the name differ from all other rules' and from the primitives'. */
struct gbnf_rule *gbnf_rule(struct gbnf *g, const char *stem, size_t n, const char *label)
{
	struct gbnf_rule *r = g->failed ? NULL : arena_array(&g->arena, 1, sizeof *r);
	size_t used = 0;

	g->failed |= !r;
	if (!r)
		return NULL;
	for (size_t i = 0; i < n && used < 30; i++) {
		if (is_name(stem[i]))
			r->name[used++] = stem[i];
		else if (used && r->name[used - 1] != '-')
			r->name[used++] = '-';
	}
	snprintf(r->name + used, sizeof r->name - used, "%s%u",
		!used ? "rule-" : r->name[used - 1] == '-' ? "" : "-", g->names++);
	r->label = label;
	return r;
}

void gbnf_define(struct gbnf *g, struct gbnf_rule *r, struct gbnf_expr *body)
{
	if (g->failed)
		return;
	r->body = gbnf_is_never(body) ? &never : placed(g, body);
	if (g->last)
		g->last->next = r;
	else
		g->first = r;
	g->last = r;
}

struct gbnf_expr *gbnf_use(struct gbnf *g, struct gbnf_rule *r)
{
	struct gbnf_expr *e = g->failed || (r->body && gbnf_is_never(r->body)) ? &never : make(g, RULE);

	if (e != &never)
		e->is.rule = r;
	return e;
}

/* ---- finite texts ---- */

static int is_finite(const struct gbnf_expr *e)
{
	switch ((enum expr_kind)e->kind) {
	case TERMINAL:
		return 1;
	case SEQUENCE: case ALTERNATIVES:       /* all of its parts, or any of them */
		for (const struct gbnf_expr *i = e->is.list.first; i; i = i->next)
			if (is_finite(i) != (e->kind == SEQUENCE))
				return e->kind == ALTERNATIVES;
		return e->kind == SEQUENCE;
	case REPEAT:
		return !e->low || is_finite(e->is.list.first);
	case RULE:
		return e->is.rule->finite;
	case NEVER:
		break;
	}
	return 0;
}

/* The first rule in e without a finite text, or NULL. */
static struct gbnf_rule *endless_part(const struct gbnf_expr *e)
{
	struct gbnf_rule *r = NULL;

	if (e->kind == RULE)
		return e->is.rule->finite ? NULL : e->is.rule;
	if (e->kind == SEQUENCE || e->kind == ALTERNATIVES || e->kind == REPEAT)
		for (const struct gbnf_expr *i = e->is.list.first; i && !r; i = i->next)
			r = endless_part(i);
	return r;
}

/* Except for recursion a rule is defined after those that it uses, so few rounds are needed. */
int gbnf_settle(struct gbnf *g, struct gbnf_rule *root, const char **label)
{
	struct gbnf_rule *r, *cycle;

	*label = NULL;
	if (g->failed)
		return 0;
	for (int changed = 1; changed; ) {
		changed = 0;
		for (struct gbnf_rule *i = g->first; i; i = i->next)
			if (!i->finite && is_finite(i->body))
				i->finite = changed = 1;
	}
	if (root->finite)
		return 0;
	for (r = root; r && !r->seen; r = endless_part(r->body))
		r->seen = 1;
	cycle = r;
	while (r && !r->label) {
		r = endless_part(r->body);
		r = r == cycle ? NULL : r;
	}
	*label = r ? r->label : NULL;
	return -1;
}

/* ---- printing ---- */

struct gbnf_printer {
	struct bytes *out;
	struct gbnf_rule *last;         /* of the rules used so far */
	unsigned primitives;            /* those used so far: a set of bits */
};

/* What surrounds an expression decides whether it needs parentheses. */
enum around { ALONE, IN_ALTERNATIVES, IN_SEQUENCE, IN_REPEAT };

static void put(struct gbnf_printer *p, const char *s)
{
	bytes_puts(p->out, s);
}

static void print_count(struct gbnf_printer *p, uint32_t low, uint32_t high)
{
	char text[40];

	if (low <= 1 && high == GBNF_FOREVER)
		snprintf(text, sizeof text, low ? "+" : "*");
	else if (low == 0 && high == 1)
		snprintf(text, sizeof text, "?");
	else if (low == high)
		snprintf(text, sizeof text, "{%u}", (unsigned)low);
	else if (high == GBNF_FOREVER)
		snprintf(text, sizeof text, "{%u,}", (unsigned)low);
	else
		snprintf(text, sizeof text, "{%u,%u}", (unsigned)low, (unsigned)high);
	put(p, text);
}

static void print_rule_name(struct gbnf_printer *p, struct gbnf_rule *r)
{
	put(p, r->name);
	if (r->seen)
		return;
	r->seen = 1;
	r->next = NULL;
	p->last->next = r;
	p->last = r;
}

static void print_expr(struct gbnf_printer *p, const struct gbnf_expr *e, enum around around);

/* Leaves out alternatives without a finite text. A sequence that is printed has none of these. */
static void print_list(struct gbnf_printer *p, const struct gbnf_expr *e, enum around around)
{
	const struct gbnf_expr *only = NULL;
	enum around inside = e->kind == SEQUENCE ? IN_SEQUENCE : IN_ALTERNATIVES;
	const char *between = "";
	int n = 0;

	for (const struct gbnf_expr *i = e->is.list.first; i && n < 2; i = i->next)
		if (is_finite(i)) {
			only = i;
			n++;
		}
	if (n == 1) {
		print_expr(p, only, around);
		return;
	}
	if (!n) {
		put(p, "\"\"");
		return;
	}
	put(p, around > inside ? "(" : "");
	for (const struct gbnf_expr *i = e->is.list.first; i; i = i->next) {
		if (!is_finite(i))
			continue;
		put(p, between);
		between = e->kind == SEQUENCE ? " " : " | ";
		print_expr(p, i, inside);
	}
	put(p, around > inside ? ")" : "");
}

static void print_expr(struct gbnf_printer *p, const struct gbnf_expr *e, enum around around)
{
	switch ((enum expr_kind)e->kind) {
	case TERMINAL:
		bytes_put(p->out, e->is.text.s, e->is.text.n);
		p->primitives |= e->primitives;
		break;
	case RULE:
		print_rule_name(p, e->is.rule);
		break;
	case SEQUENCE: case ALTERNATIVES:
		print_list(p, e, around);
		break;
	case REPEAT:
		if (e->low == 1 && e->high == 1) {
			print_expr(p, e->is.list.first, around);
			break;
		}
		if (!is_finite(e->is.list.first)) {
			put(p, "\"\"");
			break;
		}
		put(p, around == IN_REPEAT ? "(" : "");
		print_expr(p, e->is.list.first, IN_REPEAT);
		print_count(p, e->low, e->high);
		put(p, around == IN_REPEAT ? ")" : "");
		break;
	case NEVER:
		break;
	}
}

static void print_primitives(struct gbnf_printer *p)
{
	for (unsigned round = 0; round < GBNF_PRIMITIVES; round++)
		for (unsigned i = 0; i < GBNF_PRIMITIVES; i++)
			if (p->primitives >> i & 1)
				p->primitives |= primitives[i].uses;
	for (unsigned i = 0; i < GBNF_PRIMITIVES; i++) {
		if (!(p->primitives >> i & 1))
			continue;
		put(p, primitives[i].name);
		put(p, " ::= ");
		put(p, primitives[i].body);
		put(p, "\n");
	}
}

int gbnf_print(struct gbnf *g, struct gbnf_rule *root, struct bytes *out)
{
	struct gbnf_printer p = { .out = out, .last = root };

	if (g->failed)
		return -1;
	for (struct gbnf_rule *r = g->first; r; r = r->next)
		r->seen = 0;
	root->seen = 1;
	root->next = NULL;
	strcpy(root->name, "root");
	for (struct gbnf_rule *r = root; r && !out->failed; r = r->next) {
		put(&p, r->name);
		put(&p, " ::= ");
		print_expr(&p, r->body, ALONE);
		put(&p, "\n");
	}
	print_primitives(&p);
	return out->failed ? -1 : 0;
}
