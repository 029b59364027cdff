/* Texts in which a literal does not occur: a rule for each of its beginnings. */
#include "parse.h"

enum { WITHOUT_POINTS = 256 };  /* of the literal */

struct absent {                 /* the literal, and how its beginnings occur in it (Knuth, Morris and Pratt 1977) */
	uint32_t point[WITHOUT_POINTS], n;
	uint32_t back[WITHOUT_POINTS + 1];      /* of its first i points: the longest proper suffix that begins it */
	uint32_t rule;          /* the first of n rules; rule + i: what may follow where its first i points stand */
};

/* How many points of it stand before the position after c, if it was i. */
static uint32_t after_point(const struct absent *a, uint32_t i, uint32_t c)
{
	while (i && a->point[i] != c)
		i = a->back[i];
	return i + (a->point[i] == c);
}

static int read_absent(struct grammar_parser *p, struct absent *a)
{
	const char *from = ++p->text.at;
	int32_t c;

	for (p->text.at++; (c = parse_literal_point(p, from)) >= 0; a->point[a->n++] = (uint32_t)c)
		if (a->n == WITHOUT_POINTS)
			return (int)reader_fail(&p->text, from, "more than %d characters after '!'", WITHOUT_POINTS);
	if (c == -1 && !a->n)
		return (int)reader_fail(&p->text, from, "an empty literal occurs in every text");
	for (uint32_t i = 1; i < a->n; i++)
		a->back[i + 1] = after_point(a, a->back[i], a->point[i]);
	return c == -1 ? 0 : -1;
}

/* Nothing, or a point and what may follow it: one that continues the literal, or starts it again, or any other. */
static uint32_t follow(struct grammar_parser *p, const struct absent *a, uint32_t i)
{
	struct points others = { 0 };
	size_t base = p->n;
	uint32_t v = GRAMMAR_NONE, to;
	int bad = parse_push(p, parse_made(p, node_empty(&p->nodes)));

	for (uint32_t k = 0; k <= i && !bad; k++) {
		uint32_t c = a->point[k];

		to = after_point(a, i, c);
		bad = points_add(&others, c, c) ? (int)parse_made(p, GRAMMAR_NONE) : 0;
		if (!bad && to < a->n)
			bad = parse_push(p, parse_made(p, node_seq(&p->nodes, node_points(&p->nodes, c, c),
				p->g->rule[a->rule + to].node)));
	}
	if (!bad && points_settle(&others, 1))
		parse_made(p, GRAMMAR_NONE);
	else if (!bad && !parse_push(p, parse_made(p, node_seq(&p->nodes, parse_points(p, &others),
		p->g->rule[a->rule].node))))
		v = parse_made(p, node_alternatives(&p->nodes, p->stack + base, p->n - base));
	p->n = base;
	points_free(&others);
	return v;
}

uint32_t parse_without(struct grammar_parser *p)
{
	const char *from = p->text.at;
	struct absent a = { .rule = p->g->n_rules };

	if (read_absent(p, &a))
		return GRAMMAR_NONE;
	for (uint32_t i = 0; i < a.n; i++)
		if (parse_rule(p, from, (size_t)(p->text.at - from), from) == GRAMMAR_NONE)
			return GRAMMAR_NONE;
	for (uint32_t i = 0; i < a.n; i++)
		if ((p->g->rule[a.rule + i].body = follow(p, &a, i)) == GRAMMAR_NONE)
			return GRAMMAR_NONE;
	return p->g->rule[a.rule].node;
}
