/* GBNF to nodes, by recursive descent. The elements of a sequence are collected on a stack of nodes and folded from the
 * end, so that sequences share what they have in common at their ends. */
#include "parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/hash.h"

uint32_t parse_made(struct grammar_parser *p, uint32_t node)
{
	return node != GRAMMAR_NONE ? node : reader_fail(&p->text, p->text.at,
		errno == ENOMEM ? "out of memory for the grammar" : "the grammar is too large");
}

static int peek(const struct grammar_parser *p)
{
	return reader_peek(&p->text);
}

static void skip(struct grammar_parser *p, int lines)
{
	reader_skip(&p->text, lines);
}

/* ---- rules ---- */

uint32_t parse_rule(struct grammar_parser *p, const char *name, size_t n, const char *where)
{
	struct grammar *g = p->g;
	char *text = arena_text(&g->arena, n + 1);
	uint32_t node = node_rule(&p->nodes, g->n_rules);

	if (!text || node == GRAMMAR_NONE || (g->n_rules == p->rule_room
		&& (p->rule_room >= GRAMMAR_RULES || grow(&g->rule, &p->rule_room, sizeof *g->rule, 64))))
		return parse_made(p, GRAMMAR_NONE);
	memcpy(text, name, n);
	text[n] = '\0';
	g->rule[g->n_rules] = (struct grammar_rule){ .name = text, .body = GRAMMAR_NONE, .node = node, .where = where };
	return g->n_rules++;
}

/* The rule whose name stands at the position, which moves past it; a new rule if the name is new. */
static uint32_t rule_named(struct grammar_parser *p, size_t n)
{
	struct grammar *g = p->g;
	const char *where = p->text.at;
	uint32_t h = (uint32_t)hash_text(where, n), r;
	struct slot *s;

	p->text.at += n;
	if (slots_reserve(&p->slots))
		return parse_made(p, GRAMMAR_NONE);
	for (s = slots_first(&p->slots, h); s->index; s = slots_next(&p->slots, s)) {
		const char *there = g->rule[s->index - 1].name;

		if (s->hash == h && !strncmp(there, where, n) && !there[n])
			return s->index - 1;
	}
	r = parse_rule(p, where, n, where);
	if (r != GRAMMAR_NONE)
		slots_put(&p->slots, s, h, r);
	return r;
}

/* ---- expressions ---- */

int parse_push(struct grammar_parser *p, uint32_t node)
{
	if (node == GRAMMAR_NONE)
		return -1;
	if (p->n == p->room && grow(&p->stack, &p->room, sizeof *p->stack, 256))
		return (int)parse_made(p, GRAMMAR_NONE);
	p->stack[p->n++] = node;
	return 0;
}

/* Removes what was pushed since base from the stack and joins it, the last first. */
static uint32_t fold(struct grammar_parser *p, size_t base,
	uint32_t (*join)(struct node_table *t, uint32_t a, uint32_t b))
{
	uint32_t v = p->n > base ? p->stack[--p->n] : node_empty(&p->nodes);

	while (p->n > base)
		v = join(&p->nodes, p->stack[--p->n], v);
	return parse_made(p, v);
}

int32_t parse_literal_point(struct grammar_parser *p, const char *from)
{
	int32_t c = -1;

	if (peek(p) == '"')
		p->text.at++;
	else if (peek(p) < 0 || peek(p) == '\n')
		c = (int32_t)reader_fail(&p->text, from, "the literal does not end on its line") - 1;
	else if ((c = reader_point(&p->text)) < 0)
		c = -2;
	return c;
}

static uint32_t literal(struct grammar_parser *p)
{
	const char *from = p->text.at++;
	size_t base = p->n;
	int32_t c;

	while ((c = parse_literal_point(p, from)) >= 0)
		if (parse_push(p, parse_made(p, node_points(&p->nodes, (uint32_t)c, (uint32_t)c))))
			return GRAMMAR_NONE;
	return c == -1 ? fold(p, base, node_seq) : GRAMMAR_NONE;
}

uint32_t parse_points(struct grammar_parser *p, const struct points *c)
{
	size_t base = p->n;

	for (size_t i = 0; i < c->n; i++)
		if (parse_push(p, parse_made(p, node_points(&p->nodes, c->range[i].first, c->range[i].last))))
			return GRAMMAR_NONE;
	return fold(p, base, node_alt);
}

static int class_range(struct grammar_parser *p, struct points *c)
{
	const char *from = p->text.at, *dash;
	int32_t first = reader_point(&p->text), last = first;

	dash = p->text.at;
	if (first >= 0 && p->text.end - dash > 1 && *dash == '-' && dash[1] != ']' && dash[1] != '\n') {
		p->text.at++;
		last = reader_point(&p->text);
	}
	if (first < 0 || last < 0)
		return -1;
	if (first > last)
		return (int)reader_fail(&p->text, from, "the range ends before it begins");
	return points_add(c, (uint32_t)first, (uint32_t)last) ? (int)parse_made(p, GRAMMAR_NONE) : 0;
}

/* A class in brackets, or the dot: all but an empty set. */
static uint32_t class(struct grammar_parser *p)
{
	const char *from = p->text.at++;
	struct points c = { 0 };
	uint32_t v = GRAMMAR_NONE;
	int dot = *from == '.', not = dot || peek(p) == '^', bad = 0;

	p->text.at += not && !dot;
	while (!dot && !bad && peek(p) != ']') {
		if (peek(p) < 0 || peek(p) == '\n')
			bad = (int)reader_fail(&p->text, from, "the class does not end on its line");
		else
			bad = class_range(p, &c);
	}
	p->text.at += !dot && !bad;
	if (!bad && !dot && !c.n)
		reader_fail(&p->text, from, "the class is empty");
	else if (!bad && points_settle(&c, not))
		parse_made(p, GRAMMAR_NONE);
	else if (!bad && !c.n)
		reader_fail(&p->text, from, "the class contains no character");
	else if (!bad)
		v = parse_points(p, &c);
	points_free(&c);
	return v;
}

static uint32_t alternatives(struct grammar_parser *p, int inside);

static uint32_t group(struct grammar_parser *p)
{
	const char *from = p->text.at++;
	uint32_t v;

	if (p->depth == GRAMMAR_DEPTH)
		return reader_fail(&p->text, from, "parentheses nested more than %d deep", GRAMMAR_DEPTH);
	p->depth++;
	v = alternatives(p, 1);
	p->depth--;
	if (v == GRAMMAR_NONE)
		return v;
	if (peek(p) < 0)
		return reader_fail(&p->text, from, "the parenthesis is not closed");
	if (peek(p) != ')')
		return reader_fail(&p->text, p->text.at, "expected ')'");
	p->text.at++;
	return v;
}

/* A number with blanks around it, or `otherwise`. 1 if there is one, 0 if not; -1: it is too large. */
static int bound(struct grammar_parser *p, uint32_t otherwise, uint32_t *out)
{
	const char *from;
	uint64_t v = 0;

	skip(p, 0);
	for (from = p->text.at; peek(p) >= '0' && peek(p) <= '9'; p->text.at++)
		v = v > GRAMMAR_REPEAT ? v : v * 10 + (uint64_t)(*p->text.at - '0');
	if (v > GRAMMAR_REPEAT)
		return (int)reader_fail(&p->text, from, "a repetition count above %d", GRAMMAR_REPEAT);
	*out = p->text.at > from ? (uint32_t)v : otherwise;
	otherwise = p->text.at > from;
	skip(p, 0);
	return (int)otherwise;
}

/* The two numbers of {n}, {n,}, {,m} or {n,m}, after the brace. */
static int bounds(struct grammar_parser *p, uint32_t *low, uint32_t *high)
{
	const char *from = p->text.at - 1;
	int has_low = bound(p, 0, low), has_high = has_low;

	*high = *low;
	if (has_low >= 0 && peek(p) == ',') {
		p->text.at++;
		has_high = bound(p, GRAMMAR_FOREVER, high);
	}
	if (has_low < 0 || has_high < 0)
		return -1;
	if (peek(p) != '}' || (!has_low && !has_high))
		return (int)reader_fail(&p->text, from, "a repetition is {n}, {n,}, {,m} or {n,m}");
	p->text.at++;
	if (*low > *high)
		return (int)reader_fail(&p->text, from, "the repetition's lower bound exceeds its upper one");
	return 0;
}

static uint32_t repeated(struct grammar_parser *p, uint32_t v, int inside)
{
	while (v != GRAMMAR_NONE) {
		const char *from = p->text.at;
		uint32_t low, high;
		int c;

		skip(p, inside);
		c = peek(p);
		if (c != '*' && c != '+' && c != '?' && c != '{') {
			p->text.at = from;
			break;
		}
		low = c == '+';
		high = c == '?' ? 1 : GRAMMAR_FOREVER;
		p->text.at++;
		if (c == '{' && bounds(p, &low, &high))
			return GRAMMAR_NONE;
		v = parse_made(p, node_repeat(&p->nodes, v, low, high));
	}
	return v;
}

/* ---- tokens ---- */

/* The number of a token among those that the grammar names. */
static uint32_t token_number(struct grammar_parser *p, const char *from, int32_t id)
{
	struct grammar *g = p->g;
	uint32_t k = 0;

	while (k < g->n_tokens && g->token[k] != id)
		k++;
	if (k == GRAMMAR_TOKENS)
		return reader_fail(&p->text, from, "more than %d different tokens", GRAMMAR_TOKENS);
	if (k == g->n_tokens) {
		if (k == p->token_room && grow(&g->token, &p->token_room, sizeof *g->token, 16))
			return parse_made(p, GRAMMAR_NONE);
		g->token[g->n_tokens++] = id;
	}
	return k;
}

/* A token; with a `!` before it, any other one. */
static uint32_t token(struct grammar_parser *p)
{
	const char *from = p->text.at;
	int not = peek(p) == '!';
	uint32_t k, v;
	int32_t id;

	if (!p->tokens)
		return reader_fail(&p->text, from, "tokens (<...>) need a vocabulary");
	p->text.at += not;
	id = reader_token(&p->text, p->tokens);
	if (id < 0 || (k = token_number(p, from, id)) == GRAMMAR_NONE)
		return GRAMMAR_NONE;
	k += SYMBOL_TOKEN;
	if (!not)
		return parse_made(p, node_symbols(&p->nodes, k, k));
	v = node_symbols(&p->nodes, k + 1, SYMBOL_OTHER);
	if (k > SYMBOL_TOKEN)
		v = node_alt(&p->nodes, node_symbols(&p->nodes, SYMBOL_TOKEN, k - 1), v);
	return parse_made(p, v);
}

/* ---- sequences and alternatives ---- */

static uint32_t element(struct grammar_parser *p)
{
	size_t n = reader_name(&p->text);
	uint32_t r;

	switch (peek(p)) {
	case '"':
		return literal(p);
	case '[': case '.':
		return class(p);
	case '(':
		return group(p);
	case '*': case '+': case '?': case '{':
		return reader_fail(&p->text, p->text.at, "nothing to repeat before this");
	case '<': case '!':
		return p->text.end - p->text.at > 1 && !memcmp(p->text.at, "!\"", 2) ? parse_without(p) : token(p);
	}
	if (!n)
		return reader_fail(&p->text, p->text.at, "unexpected character");
	r = rule_named(p, n);
	return r == GRAMMAR_NONE ? r : p->g->rule[r].node;
}

static uint32_t sequence(struct grammar_parser *p, int inside)
{
	size_t base = p->n;

	for (;;) {
		skip(p, inside);
		if (peek(p) < 0 || peek(p) == '\n' || peek(p) == '|' || peek(p) == ')')
			return fold(p, base, node_seq);
		if (parse_push(p, repeated(p, element(p), inside)))
			return GRAMMAR_NONE;
	}
}

/* Whether another alternative follows. Outside parentheses a rule ends with its line, unless a `|` comes next. */
static int another(struct grammar_parser *p, int inside)
{
	const char *from = p->text.at;

	if (!inside)
		skip(p, 1);
	if (peek(p) == '|') {
		p->text.at++;
		skip(p, 1);
		return 1;
	}
	p->text.at = from;
	return 0;
}

static uint32_t alternatives(struct grammar_parser *p, int inside)
{
	size_t base = p->n;
	uint32_t v;

	do
		if (parse_push(p, sequence(p, inside)))
			return GRAMMAR_NONE;
	while (another(p, inside));
	v = node_alternatives(&p->nodes, p->stack + base, p->n - base);
	p->n = base;
	return parse_made(p, v);
}

static int definition(struct grammar_parser *p)
{
	size_t n = reader_name(&p->text);
	const char *from = p->text.at;
	uint32_t r, body;

	if (!n)
		return (int)reader_fail(&p->text, p->text.at, "expected a rule's name");
	r = rule_named(p, n);
	if (r == GRAMMAR_NONE)
		return -1;
	skip(p, 0);
	if (p->text.end - p->text.at < 3 || memcmp(p->text.at, "::=", 3))
		return (int)reader_fail(&p->text, p->text.at, "expected '::=' after the rule's name");
	if (p->g->rule[r].body != GRAMMAR_NONE)
		return (int)reader_fail(&p->text, from, "rule %.80s is defined twice", p->g->rule[r].name);
	p->text.at += 3;
	skip(p, 1);
	body = alternatives(p, 0);
	if (body == GRAMMAR_NONE)
		return -1;
	if (peek(p) == ')')
		return (int)reader_fail(&p->text, p->text.at, "')' without '('");
	p->g->rule[r].body = body;
	p->g->rule[r].where = from;
	return 0;
}

/* ---- the whole grammar ---- */

static int all_there(struct grammar_parser *p)
{
	struct grammar *g = p->g;

	for (uint32_t r = 0; r < g->n_rules; r++) {
		const char *name = g->rule[r].name;

		if (g->rule[r].body == GRAMMAR_NONE)
			return (int)reader_fail(&p->text, g->rule[r].where, "rule %.80s is not defined", name);
		if (!strcmp(name, "root"))
			g->root = r;
	}
	return g->root == GRAMMAR_NONE ? (int)reader_fail(&p->text, p->text.start, "there is no rule root") : 0;
}

static int rules(struct grammar_parser *p)
{
	uint32_t bad;

	for (skip(p, 1); p->text.at < p->text.end; skip(p, 1))
		if (definition(p))
			return -1;
	if (all_there(p))
		return -1;
	p->g->node = p->nodes.node;
	p->g->n_nodes = p->nodes.n;
	p->nodes.node = NULL;
	if (!grammar_check(p->g, &bad, p->text.w))
		return 0;
	if (bad != GRAMMAR_NONE)
		reader_fail(&p->text, p->g->rule[bad].where, "rule %.80s %s", p->g->rule[bad].name, p->text.w->text);
	return -1;
}

struct grammar *grammar_parse_tokens(const char *text, size_t n, const struct grammar_tokens *tokens, struct why *w)
{
	struct grammar *g = calloc(1, sizeof *g);
	struct grammar_parser p = { .text = { text, text, text + n, w }, .g = g, .tokens = tokens };
	int bad, error;

	if (!g) {
		why(w, "out of memory for the grammar");
		return NULL;
	}
	g->arena.limit = SIZE_MAX;      /* bounded by the text's length */
	g->root = GRAMMAR_NONE;
	errno = 0;
	bad = n > GRAMMAR_TEXT ? why(w, "the grammar's text is longer than %d bytes", GRAMMAR_TEXT) : rules(&p);
	error = errno;
	node_free(&p.nodes);
	free(p.stack);
	free(p.slots.slot);
	if (bad) {
		grammar_free(g);
		errno = error;
		return NULL;
	}
	return g;
}

struct grammar *grammar_parse(const char *text, size_t n, struct why *w)
{
	return grammar_parse_tokens(text, n, NULL, w);
}
