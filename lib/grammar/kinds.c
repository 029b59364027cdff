/* Which kinds of characters lead from a state to its usual successor. */
#include "kinds.h"

#include "trie.h"

/* Whether every character spelt by one byte of each range, up to the one that ends in 0, leads from one state to
 * another. -1: the matcher's fault. */
static int leads_to(struct matcher *m, uint32_t from, uint32_t to, const uint8_t (*range)[2])
{
	uint32_t done = STATE_DEAD;

	if (matcher_row(m, from))
		return -1;
	for (unsigned c = m->g->class_of[range[0][0]]; c <= m->g->class_of[range[0][1]]; c++) {
		uint32_t next = m->rows.at[m->state[from].row - 1 + c];
		int all;

		if (next == STATE_DEAD)
			return 0;
		if (next == done)
			continue;
		all = range[1][1] ? leads_to(m, next, to, range + 1) : next == to;
		if (all != 1)
			return all;
		done = next;
	}
	return 1;
}

/* The same for all characters past ASCII. */
static int all_beyond_ascii(struct matcher *m, uint32_t state, uint32_t to)
{
	static const uint8_t characters[][5][2] = {
		{ { 0xc2, 0xdf }, { 0x80, 0xbf } },
		{ { 0xe0, 0xe0 }, { 0xa0, 0xbf }, { 0x80, 0xbf } },
		{ { 0xe1, 0xec }, { 0x80, 0xbf }, { 0x80, 0xbf } },
		{ { 0xed, 0xed }, { 0x80, 0x9f }, { 0x80, 0xbf } },
		{ { 0xee, 0xef }, { 0x80, 0xbf }, { 0x80, 0xbf } },
		{ { 0xf0, 0xf0 }, { 0x90, 0xbf }, { 0x80, 0xbf }, { 0x80, 0xbf } },
		{ { 0xf1, 0xf3 }, { 0x80, 0xbf }, { 0x80, 0xbf }, { 0x80, 0xbf } },
		{ { 0xf4, 0xf4 }, { 0x80, 0x8f }, { 0x80, 0xbf }, { 0x80, 0xbf } },
	};
	int all = 1;

	for (size_t i = 0; i < sizeof characters / sizeof *characters && all == 1; i++)
		all = leads_to(m, state, to, characters[i]);
	return all;
}

/* The state that most of the ASCII bytes lead to of those that lead anywhere; if there is no majority, any of the
 * states. */
static uint32_t usual_next(const struct matcher *m, const uint32_t *row)
{
	uint32_t usual = STATE_DEAD;
	int votes = 0;

	for (unsigned b = 0; b < 0x80; b++) {
		uint32_t next = row[m->g->class_of[b]];

		if (next == STATE_DEAD)
			continue;
		if (!votes)
			usual = next;
		votes += next == usual ? 1 : -1;
	}
	return usual;
}

/* Fills in the state's kinds and usual. */
static int find_kinds(struct matcher *m, uint32_t state)
{
	uint64_t kinds = 0, others = 0;
	const uint32_t *row;
	uint32_t usual;
	int all = 0;

	if (matcher_row(m, state))
		return -1;
	row = m->rows.at + m->state[state].row - 1;
	usual = usual_next(m, row);
	for (unsigned b = 0; b < 0x80; b++)
		*(row[m->g->class_of[b]] == usual ? &kinds : &others) |= trie_kind((unsigned char)b);
	if (usual == STATE_DEAD)
		kinds = 0;
	else
		all = all_beyond_ascii(m, state, usual);
	if (all < 0)
		return -1;
	m->state[state].kinds = (kinds & ~others) | (all ? TRIE_BEYOND_ASCII : 0) | KINDS_KNOWN;
	m->state[state].usual = usual;
	return 0;
}

int kinds_take(struct matcher *m, uint32_t state, uint64_t kinds, unsigned n)
{
	if (kinds & TRIE_BROKEN)
		return 0;
	for (; n; n--) {
		if (!m->state[state].kinds && find_kinds(m, state))
			return -1;
		if (kinds & ~m->state[state].kinds)
			return 0;
		if (m->state[state].usual == state)
			return 1;
		state = m->state[state].usual;
	}
	return 1;
}
