/* GBNF to nodes: recursive descent over the text. What a sequence consists of is gathered on a stack of nodes and folded from its end, so that all
 * the ways a sequence may go on share their tails. */
#include "../utf8.h"
#include "class.h"
#include "priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const char *start, *at, *end;
	struct grammar *g;
	struct grammar_nodes nodes;
	uint32_t *stack;        /* nodes of the sequences being read */
	size_t n, room;
	uint32_t *slot;         /* open addressing by name: index of a rule plus 1 */
	uint32_t slots, rule_room;
	int depth;
	struct why *w;
};

__attribute__((format(printf, 3, 4)))
static uint32_t fail(struct parser *p, const char *at, const char *format, ...)
{
	size_t line = 1, column = 1;
	char reason[300];
	va_list ap;

	for (const char *s = p->start; s < at; s++) {
		column += ((unsigned char)*s & 0xc0) != 0x80;
		if (*s == '\n') {
			line++;
			column = 1;
		}
	}
	va_start(ap, format);
	vsnprintf(reason, sizeof reason, format, ap);
	va_end(ap);
	why(p->w, "line %zu, column %zu: %s", line, column, reason);
	return GRAMMAR_NONE;
}

/* A node that could not be made is the only failure that has not said why yet. */
static uint32_t made(struct parser *p, uint32_t node)
{
	return node != GRAMMAR_NONE ? node : fail(p, p->at, "the grammar is too large");
}

/* ---- text ---- */

static int peek(const struct parser *p)
{
	return p->at < p->end ? (unsigned char)*p->at : -1;
}

/* Spaces and comments; ends of lines too where they mean nothing. */
static void skip(struct parser *p, int lines)
{
	for (; p->at < p->end; p->at++) {
		if (*p->at == '#')
			while (p->at + 1 < p->end && p->at[1] != '\n')
				p->at++;
		else if (*p->at != ' ' && *p->at != '\t' && *p->at != '\r' && !(lines && *p->at == '\n'))
			break;
	}
}

static int is_name(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

static size_t name_length(const struct parser *p)
{
	const char *s = p->at;

	while (s < p->end && is_name((unsigned char)*s))
		s++;
	return (size_t)(s - p->at);
}

static int32_t hex(struct parser *p, unsigned digits)
{
	const char *from = p->at - 2;
	uint32_t c = 0;

	for (unsigned i = 0; i < digits; i++, p->at++) {
		int h = peek(p);
		int digit = h >= '0' && h <= '9' ? h - '0' : h >= 'a' && h <= 'f' ? h - 'a' + 10 : h >= 'A' && h <= 'F' ? h - 'A' + 10 : -1;

		if (digit < 0) {
			fail(p, from, "\\%c wants %u hexadecimal digits", from[1], digits);
			return -1;
		}
		c = c << 4 | (uint32_t)digit;
	}
	if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		fail(p, from, "U+%04X is no character", (unsigned)c);
		return -1;
	}
	return (int32_t)c;
}

/* The next code point of a literal or class, escaped or as it stands; -1 with the reason. */
static int32_t point(struct parser *p)
{
	static const char from[] = "nrt\\\"[]-^", to[] = "\n\r\t\\\"[]-^";
	const char *hit;
	unsigned used;
	int32_t c;

	if (*p->at != '\\') {
		c = utf8_next(p->at, (size_t)(p->end - p->at), &used);
		if (c < 0)
			fail(p, p->at, "bytes that are not UTF-8");
		p->at += used;
		return c;
	}
	if (p->end - p->at < 2) {
		fail(p, p->at, "the text ends in an escape");
		return -1;
	}
	p->at += 2;
	switch (p->at[-1]) {
	case 'x':
		return hex(p, 2);
	case 'u':
		return hex(p, 4);
	case 'U':
		return hex(p, 8);
	}
	hit = p->at[-1] ? strchr(from, p->at[-1]) : NULL;
	if (hit)
		return to[hit - from];
	fail(p, p->at - 2, "unknown escape");
	return -1;
}

/* ---- rules ---- */

static uint32_t name_hash(const char *s, size_t n)
{
	uint32_t h = 2166136261u;

	while (n--)
		h = (h ^ (unsigned char)*s++) * 16777619u;
	return h;
}

static int more_slots(struct parser *p)
{
	uint32_t slots = p->slots ? p->slots * 2 : 256, *slot = calloc(slots, sizeof *slot);

	if (!slot)
		return -1;
	for (uint32_t r = 0; r < p->g->n_rules; r++) {
		uint32_t at = name_hash(p->g->rule[r].name, strlen(p->g->rule[r].name)) & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = r + 1;
	}
	free(p->slot);
	p->slot = slot;
	p->slots = slots;
	return 0;
}

static int more_rules(struct parser *p)
{
	uint32_t room = p->rule_room ? p->rule_room * 2 : 64;
	struct rule *rule = room <= GRAMMAR_RULES ? realloc(p->g->rule, room * sizeof *rule) : NULL;

	if (!rule)
		return -1;
	p->g->rule = rule;
	p->rule_room = room;
	return 0;
}

/* The rule of the name at the cursor, which moves past it; a new one if it was not there before. */
static uint32_t rule_named(struct parser *p, size_t n)
{
	struct grammar *g = p->g;
	const char *s = p->at;
	uint32_t at, node;
	char *name;

	p->at += n;
	if (g->n_rules * 2 >= p->slots && more_slots(p))
		return made(p, GRAMMAR_NONE);
	for (at = name_hash(s, n) & (p->slots - 1); p->slot[at]; at = (at + 1) & (p->slots - 1)) {
		const char *there = g->rule[p->slot[at] - 1].name;

		if (!strncmp(there, s, n) && !there[n])
			return p->slot[at] - 1;
	}
	name = arena_text(&g->arena, n + 1);
	node = node_rule(&p->nodes, g->n_rules);
	if (!name || node == GRAMMAR_NONE || (g->n_rules == p->rule_room && more_rules(p)))
		return made(p, GRAMMAR_NONE);
	memcpy(name, s, n);
	name[n] = '\0';
	g->rule[g->n_rules] = (struct rule){ .name = name, .body = GRAMMAR_NONE, .node = node, .where = s };
	p->slot[at] = ++g->n_rules;
	return g->n_rules - 1;
}

/* ---- expressions ---- */

static int push(struct parser *p, uint32_t node)
{
	if (node == GRAMMAR_NONE)
		return -1;
	if (p->n == p->room) {
		size_t room = p->room ? p->room * 2 : 256;
		uint32_t *stack = realloc(p->stack, room * sizeof *stack);

		if (!stack)
			return (int)fail(p, p->at, "the grammar is too large");
		p->stack = stack;
		p->room = room;
	}
	p->stack[p->n++] = node;
	return 0;
}

/* Takes what was pushed since base off the stack and joins it, the last first. */
static uint32_t fold(struct parser *p, size_t base, uint32_t (*join)(struct grammar_nodes *t, uint32_t a, uint32_t b))
{
	uint32_t v = p->n > base ? p->stack[--p->n] : node_empty(&p->nodes);

	while (p->n > base)
		v = join(&p->nodes, p->stack[--p->n], v);
	return made(p, v);
}

static uint32_t literal(struct parser *p)
{
	const char *from = p->at++;
	size_t base = p->n;

	while (peek(p) != '"') {
		int32_t c;

		if (peek(p) < 0 || peek(p) == '\n')
			return fail(p, from, "the literal does not end on its line");
		c = point(p);
		if (c < 0 || push(p, made(p, node_points(&p->nodes, (uint32_t)c, (uint32_t)c))))
			return GRAMMAR_NONE;
	}
	p->at++;
	return fold(p, base, node_seq);
}

static uint32_t points_node(struct parser *p, const struct points *c)
{
	size_t base = p->n;

	for (size_t i = 0; i < c->n; i++)
		if (push(p, made(p, node_points(&p->nodes, c->range[i].first, c->range[i].last))))
			return GRAMMAR_NONE;
	return fold(p, base, node_alt);
}

static int class_range(struct parser *p, struct points *c)
{
	const char *from = p->at;
	int32_t first = point(p), last = first;

	if (first >= 0 && p->end - p->at > 1 && *p->at == '-' && p->at[1] != ']' && p->at[1] != '\n') {
		p->at++;
		last = point(p);
	}
	if (first < 0 || last < 0)
		return -1;
	if (first > last)
		return (int)fail(p, from, "a range that ends before it begins");
	return points_add(c, (uint32_t)first, (uint32_t)last) ? (int)made(p, GRAMMAR_NONE) : 0;
}

static uint32_t class(struct parser *p)
{
	const char *from = p->at++;
	struct points c = { 0 };
	uint32_t v = GRAMMAR_NONE;
	int not = peek(p) == '^', bad = 0;

	p->at += not;
	while (!bad && peek(p) != ']') {
		if (peek(p) < 0 || peek(p) == '\n')
			bad = (int)fail(p, from, "the class does not end on its line");
		else
			bad = class_range(p, &c);
	}
	if (!bad)
		p->at++;
	if (!bad && !c.n)
		fail(p, from, "an empty class");
	else if (!bad && points_settle(&c, not))
		made(p, GRAMMAR_NONE);
	else if (!bad && !c.n)
		fail(p, from, "a class that no character is in");
	else if (!bad)
		v = points_node(p, &c);
	points_free(&c);
	return v;
}

static uint32_t any_point(struct parser *p)
{
	size_t base = p->n;

	p->at++;
	return push(p, made(p, node_points(&p->nodes, 0, 0xd7ff))) || push(p, made(p, node_points(&p->nodes, 0xe000, 0x10ffff)))
		? GRAMMAR_NONE : fold(p, base, node_alt);
}

static uint32_t alternatives(struct parser *p, int inside);

static uint32_t group(struct parser *p)
{
	const char *from = p->at++;
	uint32_t v;

	if (p->depth == GRAMMAR_DEPTH)
		return fail(p, from, "parentheses nested more than %d deep", GRAMMAR_DEPTH);
	p->depth++;
	v = alternatives(p, 1);
	p->depth--;
	if (v == GRAMMAR_NONE)
		return v;
	if (peek(p) != ')')
		return fail(p, peek(p) < 0 ? from : p->at, peek(p) < 0 ? "the parenthesis is not closed" : "')' or more of the sequence is wanted here");
	p->at++;
	return v;
}

static int bound(struct parser *p, uint32_t *out)
{
	const char *from = p->at;
	uint64_t v = 0;

	for (; peek(p) >= '0' && peek(p) <= '9'; p->at++)
		v = v > GRAMMAR_REPEAT ? v : v * 10 + (uint64_t)(*p->at - '0');
	if (v > GRAMMAR_REPEAT)
		return (int)fail(p, from, "more than %d repetitions", GRAMMAR_REPEAT);
	if (p->at > from)
		*out = (uint32_t)v;
	return p->at > from;
}

/* The two numbers of {n}, {n,}, {,m} or {n,m}; the cursor is behind the brace. */
static int bounds(struct parser *p, uint32_t *low, uint32_t *high)
{
	const char *from = p->at - 1;
	int has_low, has_high;

	*low = 0;
	skip(p, 0);
	has_low = bound(p, low);
	*high = *low;
	if (has_low < 0)
		return -1;
	skip(p, 0);
	has_high = has_low;
	if (peek(p) == ',') {
		p->at++;
		skip(p, 0);
		*high = GRAMMAR_FOREVER;
		has_high = bound(p, high);
		if (has_high < 0)
			return -1;
		skip(p, 0);
	}
	if (peek(p) != '}' || (!has_low && !has_high))
		return (int)fail(p, from, "a repetition is {n}, {n,}, {,m} or {n,m}");
	p->at++;
	return *low > *high ? (int)fail(p, from, "a repetition whose bounds are the wrong way round") : 0;
}

static uint32_t repeated(struct parser *p, uint32_t v, int inside)
{
	for (;;) {
		uint32_t low = 0, high = GRAMMAR_FOREVER;
		const char *from = p->at;

		skip(p, inside);
		switch (peek(p)) {
		case '*':
			p->at++;
			break;
		case '+':
			p->at++;
			low = 1;
			break;
		case '?':
			p->at++;
			high = 1;
			break;
		case '{':
			p->at++;
			if (bounds(p, &low, &high))
				return GRAMMAR_NONE;
			break;
		default:
			p->at = from;
			return v;
		}
		v = made(p, node_repeat(&p->nodes, v, low, high));
		if (v == GRAMMAR_NONE)
			return v;
	}
}

static uint32_t element(struct parser *p)
{
	size_t n = name_length(p);
	uint32_t r;

	switch (peek(p)) {
	case '"':
		return literal(p);
	case '[':
		return class(p);
	case '.':
		return any_point(p);
	case '(':
		return group(p);
	case '*': case '+': case '?': case '{':
		return fail(p, p->at, "nothing stands before this repetition");
	case '<': case '!':
		return fail(p, p->at, "tokens by name or id (<...>) are not supported");
	}
	if (!n)
		return fail(p, p->at, "unexpected character");
	r = rule_named(p, n);
	return r == GRAMMAR_NONE ? r : p->g->rule[r].node;
}

static uint32_t sequence(struct parser *p, int inside)
{
	size_t base = p->n;

	for (;;) {
		uint32_t v;

		skip(p, inside);
		if (peek(p) < 0 || peek(p) == '\n' || peek(p) == '|' || peek(p) == ')')
			return fold(p, base, node_seq);
		v = element(p);
		if (v == GRAMMAR_NONE || push(p, repeated(p, v, inside)))
			return GRAMMAR_NONE;
	}
}

/* Outside parentheses a line's end is the rule's, unless the next thing is a `|`, which begins no rule. */
static int another(struct parser *p, int inside)
{
	const char *from = p->at;

	if (!inside)
		skip(p, 1);
	if (peek(p) == '|') {
		p->at++;
		skip(p, 1);
		return 1;
	}
	p->at = from;
	return 0;
}

static uint32_t alternatives(struct parser *p, int inside)
{
	size_t base = p->n;

	do
		if (push(p, sequence(p, inside)))
			return GRAMMAR_NONE;
	while (another(p, inside));
	return fold(p, base, node_alt);
}

static int definition(struct parser *p)
{
	size_t n = name_length(p);
	const char *from = p->at;
	uint32_t r, body;

	if (!n)
		return (int)fail(p, p->at, "a rule's name is wanted here");
	r = rule_named(p, n);
	if (r == GRAMMAR_NONE)
		return -1;
	skip(p, 0);
	if (p->end - p->at < 3 || memcmp(p->at, "::=", 3))
		return (int)fail(p, p->at, "'::=' is wanted after the rule's name");
	if (p->g->rule[r].body != GRAMMAR_NONE)
		return (int)fail(p, from, "rule %.80s is defined twice", p->g->rule[r].name);
	p->at += 3;
	skip(p, 1);
	body = alternatives(p, 0);
	if (body == GRAMMAR_NONE)
		return -1;
	if (peek(p) == ')')
		return (int)fail(p, p->at, "')' without '('");
	p->g->rule[r].body = body;
	p->g->rule[r].where = from;
	return 0;
}

/* ---- the whole ---- */

static int all_there(struct parser *p)
{
	struct grammar *g = p->g;

	for (uint32_t r = 0; r < g->n_rules; r++) {
		if (g->rule[r].body == GRAMMAR_NONE)
			return (int)fail(p, g->rule[r].where, "rule %.80s is not defined", g->rule[r].name);
		if (!strcmp(g->rule[r].name, "root"))
			g->root = r;
	}
	return g->root == GRAMMAR_NONE ? (int)fail(p, p->start, "there is no rule root") : 0;
}

static int rules(struct parser *p)
{
	uint32_t bad;

	for (skip(p, 1); p->at < p->end; skip(p, 1))
		if (definition(p))
			return -1;
	if (all_there(p))
		return -1;
	p->g->node = p->nodes.node;
	p->g->n_nodes = p->nodes.n;
	p->nodes.node = NULL;
	if (!grammar_check(p->g, &bad, p->w))
		return 0;
	if (bad != GRAMMAR_NONE)
		fail(p, p->g->rule[bad].where, "rule %.80s %s", p->g->rule[bad].name, p->w->text);
	return -1;
}

struct grammar *grammar_parse(const char *text, size_t n, struct why *w)
{
	struct grammar *g = calloc(1, sizeof *g);
	struct parser p = { .start = text, .at = text, .end = text + n, .g = g, .w = w };
	int bad;

	if (!g) {
		why(w, "no memory for the grammar");
		return NULL;
	}
	g->arena.limit = SIZE_MAX;      /* the text's length bounds it */
	g->root = GRAMMAR_NONE;
	bad = n > GRAMMAR_TEXT ? why(w, "the grammar's text is longer than %d bytes", GRAMMAR_TEXT) : rules(&p);
	node_free(&p.nodes);
	free(p.stack);
	free(p.slot);
	if (bad) {
		grammar_free(g);
		return NULL;
	}
	return g;
}
