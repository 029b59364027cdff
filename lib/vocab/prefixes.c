/* prefixes: sorting the tokens, then building the tree from the ranges of tokens that begin with the same bytes. */
#include "prefixes.h"

#include <stdlib.h>

#include "lib/base/grow.h"

struct range {                          /* the tokens of a node: their first `depth` bytes are equal */
	uint32_t from, to, depth;
};

void prefixes_free(struct prefixes *p)
{
	free(p->tokens);
	free(p->texts);
	free(p->first);
	free(p->token);
	free(p->label);
	memset(p, 0, sizeof *p);
}

int prefixes_start(struct prefixes *p, size_t n, const unsigned char *only, struct why *w)
{
	prefixes_free(p);
	p->only = only;
	p->tokens = malloc((n + 1) * sizeof *p->tokens);
	return p->tokens ? 0 : why(w, "out of memory");
}

int prefixes_add(struct prefixes *p, const char *s, size_t n, int32_t id, struct why *w)
{
	if (n > PREFIXES_LONGEST)
		return why(w, "tokenizer.ggml.tokens: number %d: %zu bytes (at most %d are supported)", (int)id, n,
			PREFIXES_LONGEST);
	for (size_t i = 0; p->only && i < n; i++)
		if (!p->only[(unsigned char)s[i]])
			return 0;
	if (n)
		p->tokens[p->n_tokens++] = (struct sort_string){ s, (uint32_t)n, id };
	return 0;
}

/* Sorts the tokens, and copies their texts in that order. */
static int sort_tokens(struct prefixes *p)
{
	size_t n = p->n_tokens, bytes = 0;
	char *to;

	if (sort_strings(p->tokens, n))
		return -1;
	for (size_t i = 0; i < n; i++)
		bytes += p->tokens[i].n;
	/* The file may change while its tokens are sorted. Whatever the tree is like then, its depth is bounded. */
	to = p->texts = calloc(1, bytes + PREFIXES_LONGEST + 1);
	for (size_t i = 0; to && i < n; i++) {
		memcpy(to, p->tokens[i].s, p->tokens[i].n);
		p->tokens[i].s = to;
		to += p->tokens[i].n;
	}
	return to ? 0 : -1;
}

/* ---- the tree ---- */

/* Makes room for more nodes, and their ranges. */
static int grow_nodes(struct prefixes *p, struct range **range)
{
	size_t room[4] = { p->room, p->room, p->room, p->room };

	if (grow(range, &room[0], sizeof **range, 256) || grow(&p->first, &room[1], sizeof *p->first, 256)
	    || grow(&p->token, &room[2], sizeof *p->token, 256) || grow(&p->label, &room[3], sizeof *p->label, 256))
		return -1;
	p->room = room[0];
	return 0;
}

static int add_node(struct prefixes *p, struct range **range, unsigned char label, struct range new)
{
	if (p->n_nodes + 1 >= p->room && grow_nodes(p, range))
		return -1;
	(*range)[p->n_nodes] = new;
	p->token[p->n_nodes] = 0;
	p->label[p->n_nodes++] = label;
	return p->n_nodes == UINT32_MAX ? -1 : 0;
}

/* Adds a child of the node for each byte that continues its prefix. */
static int divide(struct prefixes *p, struct range **range, uint32_t node)
{
	struct range r = (*range)[node];
	uint32_t end;

	p->first[node] = (uint32_t)p->n_nodes;
	if (r.to - r.from == 1 && node) {
		p->token[node] = r.to;
		return 0;
	}
	for (; r.from < r.to && p->tokens[r.from].n == r.depth; r.from++)
		p->token[node] = r.from + 1;
	for (; r.from < r.to && r.depth < PREFIXES_LONGEST; r.from = end) {
		char byte = p->tokens[r.from].s[r.depth];

		for (end = r.from + 1; end < r.to && p->tokens[end].s[r.depth] == byte; end++)
			;
		if (node == 0)
			p->root[(unsigned char)byte] = (uint32_t)p->n_nodes;
		if (add_node(p, range, (unsigned char)byte, (struct range){ r.from, end, r.depth + 1 }))
			return -1;
	}
	return 0;
}

int prefixes_build(struct prefixes *p, struct why *w)
{
	struct range *range = NULL;
	int bad = sort_tokens(p) || add_node(p, &range, 0, (struct range){ 0, (uint32_t)p->n_tokens, 0 });

	for (uint32_t i = 0; !bad && i < p->n_nodes; i++)
		bad = divide(p, &range, i);
	if (!bad)
		p->first[p->n_nodes] = (uint32_t)p->n_nodes;
	free(range);
	return bad ? why(w, "out of memory") : 0;
}

int32_t prefixes_longest(const struct prefixes *p, const char *text, size_t n, size_t *length)
{
	struct prefixes_walk walk = { p, text, n, 0, 0 };
	const struct sort_string *t, *longest = NULL;

	while ((t = prefixes_next(&walk)))
		longest = t;
	*length = longest ? longest->n : 0;
	return longest ? longest->id : -1;
}
