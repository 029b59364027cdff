/* prefixes: adding tokens. A tail gives way to nodes, one after the other, as far as another token shares its bytes. */
#include "prefixes.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

enum { FIRST_BITS = 10 };               /* of the number of slots */

void prefixes_free(struct prefixes *p)
{
	free(p->edges);
	free(p->token);
	free(p->tails);
	memset(p, 0, sizeof *p);
}

/* A node without a token: its state, or 0. */
static uint32_t add_node(struct prefixes *p)
{
	if (p->n == PREFIXES_TAIL || (p->n == p->room && grow(&p->token, &p->room, sizeof *p->token, 1024)))
		return 0;
	p->token[p->n] = -1;
	return (uint32_t)p->n++;
}

static int put_tail(struct prefixes *p, unsigned value)
{
	if (p->n_tails == PREFIXES_TAIL ||
	    (p->n_tails == p->tails_room && grow(&p->tails, &p->tails_room, sizeof *p->tails, 4096)))
		return -1;
	p->tails[p->n_tails++] = (uint16_t)value;
	return 0;
}

/* A tail of the bytes s[n], n may be 0: its state, or 0. */
static uint32_t add_tail(struct prefixes *p, const char *s, size_t n, int32_t id)
{
	uint32_t state = (n ? PREFIXES_TAIL : PREFIXES_END) | (uint32_t)p->n_tails;

	for (size_t i = 0; i < n; i++)
		if (put_tail(p, (unsigned char)s[i] | (i + 1 == n ? PREFIXES_LAST : 0)))
			return 0;
	return put_tail(p, (uint32_t)id & 0xffff) || put_tail(p, (uint32_t)id >> 16) ? 0 : state;
}

int prefixes_start(struct prefixes *p, size_t n, const unsigned char *only, struct why *w)
{
	unsigned bits = FIRST_BITS;

	prefixes_free(p);
	p->only = only;
	while (!only && (size_t)1 << bits < 3 * n && bits < PREFIXES_STATE_BITS)
		bits++;
	p->mask = (1u << bits) - 1;
	p->shift = 64 - bits;
	p->edges = calloc(p->mask + (size_t)1, sizeof *p->edges);
	add_node(p);                    /* the root */
	return p->edges && p->n ? 0 : why(w, "out of memory");
}

static int double_edges(struct prefixes *p)
{
	uint64_t *old = p->edges, *slot;
	size_t n = p->mask + (size_t)1;
	int bad = 0;

	p->edges = calloc(2 * n, sizeof *p->edges);
	if (!p->edges) {
		p->edges = old;
		return -1;
	}
	p->mask = (uint32_t)(2 * n - 1);
	p->shift--;
	for (size_t i = 0; i < n && !bad; i++) {
		uint64_t key = old[i] >> PREFIXES_STATE_BITS;

		if (!old[i])
			continue;
		slot = prefixes_slot(p, (uint32_t)(key >> 8), (unsigned char)key);
		bad = !slot;
		if (slot)
			*slot = old[i];
	}
	free(old);
	return bad ? -1 : 0;
}

/* Leads the edge of this node for this byte to a state. */
static int put_edge(struct prefixes *p, uint32_t node, unsigned char byte, uint32_t state)
{
	uint64_t *slot;

	if (!state)
		return -1;
	if (node == PREFIXES_ROOT) {
		p->first[byte] = state;
		return 0;
	}
	if (p->n_edges > p->mask / 2 && double_edges(p))
		return -1;
	slot = prefixes_slot(p, node, byte);
	if (!slot)
		return -1;
	p->n_edges += !*slot;
	*slot = ((uint64_t)node << 8 | byte) << PREFIXES_STATE_BITS | state;
	return 0;
}

/* Makes the state after this byte, which is in a tail, a node. Returns it, or 0. */
static uint32_t part_tail(struct prefixes *p, uint32_t node, unsigned char byte, uint32_t state)
{
	uint32_t new = add_node(p), place = state & (PREFIXES_TAIL - 1);

	if (put_edge(p, node, byte, new))
		return 0;
	if (state & PREFIXES_END)
		p->token[new] = prefixes_token(p, state);
	else if (put_edge(p, new, p->tails[place] & 255, prefixes_in_tail(p, place)))
		return 0;
	return new;
}

static int add(struct prefixes *p, const char *s, size_t n, int32_t id)
{
	uint32_t node = PREFIXES_ROOT, state;

	for (size_t i = 0; i < n; i++) {
		unsigned char byte = (unsigned char)s[i];

		state = prefixes_step(p, node, byte);
		if (!state)
			return put_edge(p, node, byte, add_tail(p, s + i + 1, n - i - 1, id));
		if (state & (PREFIXES_TAIL | PREFIXES_END))
			state = part_tail(p, node, byte, state);
		if (!state)
			return -1;
		node = state;
	}
	p->token[node] = id;
	return 0;
}

int prefixes_add(struct prefixes *p, const char *s, size_t n, int32_t id, struct why *w)
{
	if (n > PREFIXES_LONGEST)
		return why(w, "tokenizer.ggml.tokens: number %d: %zu bytes (at most %d are supported)", (int)id, n,
			PREFIXES_LONGEST);
	for (size_t i = 0; p->only && i < n; i++)
		if (!p->only[(unsigned char)s[i]])
			return 0;
	return n && add(p, s, n, id) ? why(w, "tokenizer.ggml.tokens: out of memory, or strings chosen to collide") : 0;
}

int32_t prefixes_longest(const struct prefixes *p, const char *text, size_t n, size_t *length)
{
	uint32_t state = PREFIXES_ROOT;
	int32_t longest = -1, id;

	for (size_t i = 0; i < n && (state = prefixes_step(p, state, (unsigned char)text[i])); i++)
		if ((id = prefixes_token(p, state)) >= 0) {
			longest = id;
			*length = i + 1;
		}
	return longest;
}
