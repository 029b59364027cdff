/* What follows from a grammar's nodes: which of them may be empty, whether each rule has a finite text and does
 * not begin with itself, in which order rules can begin with each other, and which symbols are equivalent.
 * All in time linear in the nodes. */
#include "node.h"

#include <stdlib.h>
#include <string.h>

/* ---- least fixpoints ----
 * A property that a node has because nodes below it have it, through rules too: once it is known of a node, the
 * nodes above are examined. */

struct above {
	uint32_t *first;        /* [n_nodes + 1]: where in `node` those above a node begin */
	uint32_t *node;
	uint32_t *todo;
};

static unsigned below(const struct grammar *g, uint32_t i, uint32_t out[2])
{
	const struct grammar_node *v = &g->node[i];

	if (v->kind == NODE_EMPTY || v->kind == NODE_SYMBOLS)
		return 0;
	out[0] = v->kind == NODE_RULE ? g->rule[v->a].body : v->a;
	out[1] = v->b;
	return v->kind == NODE_SEQ || v->kind == NODE_ALT ? 2 : 1;
}

static int find_above(const struct grammar *g, struct above *up)
{
	uint32_t to[2];

	up->first = calloc((size_t)g->n_nodes + 2, sizeof *up->first);
	up->node = calloc((size_t)g->n_nodes * 2 + 1, sizeof *up->node);
	up->todo = calloc((size_t)g->n_nodes + 1, sizeof *up->todo);
	if (!up->first || !up->node || !up->todo)
		return -1;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (unsigned k = below(g, i, to); k--; )
			up->first[to[k] + 2]++;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		up->first[i + 2] += up->first[i + 1];
	for (uint32_t i = 0; i < g->n_nodes; i++)
		for (unsigned k = below(g, i, to); k--; )
			up->node[up->first[to[k] + 1]++] = i;
	return 0;
}

/* Whether node i has the property, given what is known of the nodes below it; `symbols`: whether a symbol has it. */
static int holds(const struct grammar *g, uint32_t i, const uint8_t *known, int symbols)
{
	const struct grammar_node *v = &g->node[i];

	switch ((enum node_kind)v->kind) {
	case NODE_EMPTY:
		return 1;
	case NODE_SYMBOLS:
		return symbols;
	case NODE_SEQ:
		return known[v->a] && known[v->b];
	case NODE_ALT:
		return known[v->a] || known[v->b];
	case NODE_REPEAT:
		return v->low == 0 || known[v->a];
	case NODE_RULE:
		return known[g->rule[v->a].body];
	}
	return 0;
}

static void fixpoint(const struct grammar *g, struct above *up, uint8_t *known, int symbols)
{
	uint32_t n = 0;

	memset(known, 0, g->n_nodes);
	for (uint32_t i = 0; i < g->n_nodes; i++)
		if ((known[i] = (uint8_t)holds(g, i, known, symbols)))
			up->todo[n++] = i;
	while (n) {
		uint32_t i = up->todo[--n];

		for (uint32_t k = up->first[i]; k < up->first[i + 1]; k++) {
			uint32_t j = up->node[k];

			if (!known[j] && holds(g, j, known, symbols)) {
				known[j] = 1;
				up->todo[n++] = j;
			}
		}
	}
}

static int find_properties(struct grammar *g, uint32_t *bad, struct why *w)
{
	struct above up = { 0 };
	uint8_t *known = calloc((size_t)g->n_nodes + 1, 1);
	int status = -1;

	if (!known || find_above(g, &up)) {
		why(w, "out of memory for the grammar");
		goto out;
	}
	fixpoint(g, &up, known, 1);
	for (uint32_t r = 0; r < g->n_rules; r++)
		if (!known[g->rule[r].body]) {
			*bad = r;
			why(w, "has no finite text: each of its alternatives leads back to it");
			goto out;
		}
	fixpoint(g, &up, known, 0);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct grammar_node *v = &g->node[i];

		v->nullable = known[i];
		if (v->kind == NODE_REPEAT && known[v->a])
			v->low = 0;
	}
	status = 0;
out:
	free(known);
	free(up.first);
	free(up.node);
	free(up.todo);
	return status;
}

/* ---- which rules can begin with which ---- */

struct visit {
	uint32_t node;
	unsigned left;          /* nodes that this one can begin with and that are still to be visited */
};

static unsigned beginnings(const struct grammar *g, uint32_t i, uint32_t out[2])
{
	unsigned n = below(g, i, out);

	return g->node[i].kind == NODE_SEQ && !g->node[out[0]].nullable ? 1 : n;
}

/* Depth first from one node. A rule gets its rank, counting down, after all rules that it can begin with. -1:
 * there is a cycle through the rule *bad. */
static int rank_from(struct grammar *g, uint32_t from, uint8_t *seen, struct visit *stack, uint32_t *ranks,
	uint32_t *bad)
{
	enum { OPEN = 1, DONE = 2 };
	uint32_t n = 0, to[2];

	if (seen[from])
		return 0;
	seen[from] = OPEN;
	stack[n++] = (struct visit){ from, beginnings(g, from, to) };
	while (n) {
		struct visit *v = &stack[n - 1];
		uint32_t next;

		if (!v->left) {
			const struct grammar_node *done = &g->node[v->node];

			seen[v->node] = DONE;
			if (done->kind == NODE_RULE) {
				g->rule[done->a].rank = --*ranks;
				g->by_rank[*ranks] = done->a;
			}
			n--;
			continue;
		}
		beginnings(g, v->node, to);
		next = to[--v->left];
		if (seen[next] == OPEN) {
			while (g->node[stack[n - 1].node].kind != NODE_RULE)
				n--;
			*bad = g->node[stack[n - 1].node].a;
			return -1;
		}
		if (!seen[next]) {
			seen[next] = OPEN;
			stack[n++] = (struct visit){ next, beginnings(g, next, to) };
		}
	}
	return 0;
}

static int find_ranks(struct grammar *g, uint32_t *bad, struct why *w)
{
	uint8_t *seen = calloc((size_t)g->n_nodes + 1, 1);
	struct visit *stack = calloc((size_t)g->n_nodes + 1, sizeof *stack);
	uint32_t ranks = g->n_rules;
	int status = 0;

	g->by_rank = calloc((size_t)g->n_rules + 1, sizeof *g->by_rank);
	if (!seen || !stack || !g->by_rank)
		status = why(w, "out of memory for the grammar");
	for (uint32_t r = 0; r < g->n_rules && !status; r++)
		if (rank_from(g, g->rule[r].node, seen, stack, &ranks, bad))
			status = why(w, "begins with itself (left recursion)");
	free(seen);
	free(stack);
	return status;
}

/* ---- classes of symbols ---- */

static uint32_t class_of(const struct grammar *g, uint32_t symbol)
{
	if (symbol < SYMBOL_TOKEN)
		return g->class_of[symbol];
	return g->token_class + (symbol == SYMBOL_OTHER ? g->n_tokens : symbol - SYMBOL_TOKEN);
}

static void find_classes(struct grammar *g)
{
	uint8_t edge[SYMBOL_TOKEN + 1] = { 0 };
	unsigned class = 0;

	for (uint32_t i = 0; i < g->n_nodes; i++)
		if (g->node[i].kind == NODE_SYMBOLS && g->node[i].b < SYMBOL_TOKEN)
			edge[g->node[i].a] = edge[g->node[i].b + 1] = 1;
	for (unsigned b = 0; b < 256; b++) {
		class += b && edge[b];
		g->class_of[b] = (uint8_t)class;
	}
	g->token_class = class + 1;
	g->n_classes = g->token_class + (g->n_tokens ? g->n_tokens + 1 : 0);
	for (uint32_t i = 0; i < g->n_nodes; i++) {
		struct grammar_node *v = &g->node[i];

		if (v->kind == NODE_SYMBOLS) {
			v->a = class_of(g, v->a);
			v->b = class_of(g, v->b);
		}
	}
}

int grammar_check(struct grammar *g, uint32_t *bad, struct why *w)
{
	*bad = GRAMMAR_NONE;
	if (find_properties(g, bad, w) || find_ranks(g, bad, w))
		return -1;
	find_classes(g);
	return 0;
}

void grammar_free(struct grammar *g)
{
	if (!g)
		return;
	arena_free(&g->arena);
	free(g->node);
	free(g->rule);
	free(g->by_rank);
	free(g->token);
	free(g);
}
