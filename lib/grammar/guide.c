/* A grammar's states and a vocabulary's tree, and the masks that come of the two.
 * There are two trees: of the pieces of up to NEAR bytes, nearly all, and of the few longer ones. From a state with counts in it (a string of at
 * most 100 characters, of which 57 are left) the short pieces are tried from the state where counts above NEAR are endless, so that one mask of them
 * serves for all such counts; the long ones, from the state where those above the longest piece are.
 * In a text where nearly all is allowed, whole subtrees are taken without a look at their nodes: where the characters below a node, whatever their order,
 * go on from a state to its usual successor, from there to the next, and so on. */
#include "guide.h"

#include "match.h"
#include "trie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NEAR = 16, AT_NEAR = 0, AT_FAR = 1 };    /* near[0] of a state is for pieces of NEAR bytes, near[1] for the longest */
enum { MASKS_BYTES = 1 << 24, MASKS_MIN = 8, MASKS_MAX = 1024 };
enum kind { SHORT_PIECES, ALL_PIECES };

struct guide_place {
	struct place place;     /* first, so that the matcher's list of places is one of these */
	struct guide *guide;
};

struct mask {
	uint32_t state;         /* STATE_DEAD: none */
	enum kind kind;
	int empty;
	uint64_t used;          /* when, by the guide's clock */
	uint32_t *bits;
};

struct guide {
	struct matcher m;
	struct guide_pieces pieces;
	struct trie pieces_short, pieces_long;
	uint32_t *eog;          /* a set of bits, as masks are */
	uint32_t *rows;         /* [longest piece + 1]: the rows on the way down the tree */
	size_t words;           /* of a mask */
	struct mask *mask;
	size_t n_masks, masks_max;
	uint64_t clock;
};

/* ---- opening ---- */

static int has(const uint32_t *bits, int32_t id)
{
	return bits[id / 32] >> id % 32 & 1;
}

static void put(uint32_t *bits, int32_t id)
{
	bits[id / 32] |= (uint32_t)1 << id % 32;
}

static int build_tries(struct guide *u)
{
	struct trie_piece *piece = calloc((size_t)u->pieces.n_vocab + 1, sizeof *piece);
	size_t n = 0;
	int bad;

	if (!piece)
		return -1;
	for (int32_t id = 0; id < u->pieces.n_vocab; id++) {
		size_t len = 0;
		const char *s = u->pieces.piece(u->pieces.context, id, &len);

		if (s && len && len <= TRIE_PIECE_MAX && !has(u->eog, id))
			piece[n++] = (struct trie_piece){ .s = s, .n = (uint32_t)len, .id = id };
	}
	bad = trie_sort(piece, n) || trie_build(&u->pieces_short, piece, n, 1, NEAR)
		|| trie_build(&u->pieces_long, piece, n, NEAR + 1, TRIE_PIECE_MAX);
	free(piece);
	return bad ? -1 : 0;
}

static int prepare(struct guide *u, struct why *w)
{
	u->words = ((size_t)u->pieces.n_vocab + 31) / 32;
	u->masks_max = MASKS_BYTES / (u->words * sizeof *u->eog + 1);
	u->masks_max = u->masks_max < MASKS_MIN ? MASKS_MIN : u->masks_max > MASKS_MAX ? MASKS_MAX : u->masks_max;
	u->eog = calloc(u->words + 1, sizeof *u->eog);
	u->mask = calloc(u->masks_max, sizeof *u->mask);
	if (!u->eog || !u->mask)
		return why(w, "no memory for the grammar's masks");
	for (int32_t i = 0; i < u->pieces.n_eog; i++)
		if (u->pieces.eog[i] >= 0 && u->pieces.eog[i] < u->pieces.n_vocab)
			put(u->eog, u->pieces.eog[i]);
	if (build_tries(u))
		return why(w, "no memory for the vocabulary's tree");
	u->rows = calloc((size_t)u->pieces_long.longest + NEAR + 1, sizeof *u->rows);
	return u->rows ? 0 : why(w, "no memory for the vocabulary's tree");
}

struct guide *guide_open(const struct grammar *g, const struct guide_pieces *pieces, struct why *w)
{
	struct guide *u = calloc(1, sizeof *u);

	if (!u) {
		why(w, "no memory for the grammar's masks");
		return NULL;
	}
	u->pieces = *pieces;
	if (prepare(u, w) || matcher_open(&u->m, g, (uint32_t[]){ NEAR, u->pieces_long.longest > NEAR ? u->pieces_long.longest : NEAR }, w)) {
		guide_close(u);
		return NULL;
	}
	u->pieces.eog = NULL;
	return u;
}

void guide_close(struct guide *u)
{
	if (!u)
		return;
	while (u->m.places)
		guide_drop((struct guide_place *)u->m.places);
	matcher_close(&u->m);
	trie_free(&u->pieces_short);
	trie_free(&u->pieces_long);
	for (size_t i = 0; i < u->n_masks; i++)
		free(u->mask[i].bits);
	free(u->mask);
	free(u->eog);
	free(u->rows);
	free(u);
}

/* ---- places ---- */

static struct guide_place *enter(struct guide *u, uint32_t state, struct why *w)
{
	struct guide_place *p = state == STATE_NONE ? NULL : malloc(sizeof *p);

	if (!p) {
		why(w, "no memory for a place in the grammar");
		return NULL;
	}
	p->guide = u;
	matcher_enter(&u->m, &p->place, state);
	return p;
}

/* All masks are of states that are no more, by their numbers. */
static int flush(struct guide *u)
{
	for (size_t i = 0; i < u->n_masks; i++)
		u->mask[i].state = STATE_DEAD;
	return matcher_flush(&u->m);
}

struct guide_place *guide_start(struct guide *u, struct why *w)
{
	uint32_t state = matcher_start(&u->m);

	if (state == STATE_NONE && !flush(u))
		state = matcher_start(&u->m);
	return enter(u, state, w);
}

struct guide_place *guide_fork(const struct guide_place *p, struct why *w)
{
	return enter(p->guide, p->place.state, w);
}

void guide_drop(struct guide_place *p)
{
	if (!p)
		return;
	matcher_leave(&p->guide->m, &p->place);
	free(p);
}

int guide_may_end(const struct guide_place *p)
{
	return matcher_ends(&p->guide->m, p->place.state);
}

int guide_must_end(const struct guide_place *p)
{
	return p->place.state == STATE_END;
}

int guide_accept(struct guide_place *p, int32_t id, struct why *w)
{
	struct guide *u = p->guide;
	uint32_t state;
	size_t n = 0;
	const char *s;

	if (id < 0 || id >= u->pieces.n_vocab)
		return why(w, "id %d is outside the vocabulary", (int)id);
	if (has(u->eog, id)) {
		if (!guide_may_end(p))
			return why(w, "id %d ends the text where the grammar does not let it end", (int)id);
		p->place.state = STATE_DEAD;
		return 0;
	}
	s = u->pieces.piece(u->pieces.context, id, &n);
	u->m.steps = 0;
	state = s && n && n <= TRIE_PIECE_MAX ? matcher_walk(&u->m, p->place.state, s, n) : STATE_DEAD;
	if (state == STATE_NONE && u->m.fault == MATCHER_FULL && !flush(u))
		state = matcher_walk(&u->m, p->place.state, s, n);
	if (state == STATE_NONE)
		return matcher_why(&u->m, w);
	if (state == STATE_DEAD)
		return why(w, "the grammar does not allow id %d here", (int)id);
	p->place.state = state;
	return 0;
}

/* ---- masks ---- */

/* Whether every character of byte ranges low[n] to high[n] leads from one state to another. -1: the matcher's fault. */
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

/* Whether every character past ASCII does. */
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

/* The state that most of ASCII's bytes lead to that lead anywhere, if there is a majority; else one of the others. */
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

/* Finds state.kinds and state.usual. */
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

/* Whether all texts of up to n characters of those kinds can come after a state. 0 also where finding out would take more than the usual states. */
static int takes_all(struct matcher *m, uint32_t state, uint64_t kinds, unsigned n)
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

static void put_all(uint32_t *bits, const int32_t *id, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		put(bits, id[i]);
}

/* Sets the bits of all pieces of the tree that can come after a state. */
static int try_pieces(struct guide *u, const struct trie *t, uint32_t state, uint32_t *bits)
{
	const uint8_t *class_of = u->m.g->class_of;
	struct matcher *m = &u->m;
	const uint32_t *rows;
	int all;

	if (matcher_row(m, state))
		return -1;
	rows = m->rows.at;
	u->rows[0] = m->state[state].row - 1;
	for (uint32_t i = 0; i < t->n; ) {
		const struct trie_node *v = &t->node[i];
		uint32_t next = rows[u->rows[v->depth] + class_of[v->byte]];

		if (next == STATE_DEAD) {
			i = v->skip;
			continue;
		}
		if (v->ends)
			put(bits, t->id[v->first]);
		i++;
		if (v->skip == i)
			continue;
		all = v->height < TRIE_HIGH ? takes_all(m, next, t->below[i - 1], v->height) : 0;
		if (all < 0 || (!all && matcher_row(m, next)))
			return -1;
		rows = m->rows.at;
		if (all) {
			put_all(bits, t->id + v->first, (v->skip < t->n ? t->node[v->skip].first : t->n_ids) - v->first);
			i = v->skip;
			continue;
		}
		u->rows[v->depth + 1] = m->state[next].row - 1;
	}
	return 0;
}

static struct mask *kept(struct guide *u, uint32_t state, enum kind kind)
{
	for (size_t i = 0; i < u->n_masks; i++)
		if (u->mask[i].state == state && u->mask[i].kind == kind) {
			u->mask[i].used = ++u->clock;
			return &u->mask[i];
		}
	return NULL;
}

/* Room for one more mask, all zeroes: new, or what was used least lately, but never what was used last. NULL without memory. */
static struct mask *room(struct guide *u)
{
	struct mask *x = &u->mask[u->n_masks];

	if (u->n_masks < u->masks_max) {
		x->bits = malloc((u->words + 1) * sizeof *x->bits);
		if (!x->bits && u->n_masks < 2)
			return NULL;
		u->n_masks += x->bits != NULL;
	}
	if (x == u->mask + u->masks_max || !x->bits) {
		x = u->mask;
		for (size_t i = 1; i < u->n_masks; i++)
			if (u->mask[i].used < x->used)
				x = &u->mask[i];
	}
	x->state = STATE_DEAD;
	x->used = ++u->clock;
	memset(x->bits, 0, (u->words + 1) * sizeof *x->bits);
	return x;
}

static const struct mask *short_mask(struct guide *u, uint32_t state)
{
	struct mask *x = kept(u, state, SHORT_PIECES);

	if (x)
		return x;
	x = room(u);
	if (!x || try_pieces(u, &u->pieces_short, state, x->bits))
		return NULL;
	x->state = state;
	x->kind = SHORT_PIECES;
	return x;
}

/* The mask of a state. NULL: the matcher's fault. */
static const struct mask *find_mask(struct guide *u, uint32_t place)
{
	uint32_t near = u->m.state[place].near[AT_NEAR], far = u->m.state[place].near[AT_FAR];
	struct mask *x = kept(u, far, ALL_PIECES);
	const struct mask *some = NULL;
	int any = 0, ends = matcher_ends(&u->m, place);

	if (x)
		return x;
	u->m.fault = MATCHER_MEMORY;    /* unless another one is found */
	if (near != far && !(some = short_mask(u, near)))
		return NULL;
	x = room(u);
	if (!x)
		return NULL;
	if (some)
		memcpy(x->bits, some->bits, u->words * sizeof *x->bits);
	else if (try_pieces(u, &u->pieces_short, far, x->bits))
		return NULL;
	if (try_pieces(u, &u->pieces_long, far, x->bits))
		return NULL;
	for (size_t i = 0; i < u->words; i++) {
		if (ends)
			x->bits[i] |= u->eog[i];
		any |= x->bits[i] != 0;
	}
	x->state = far;
	x->kind = ALL_PIECES;
	x->empty = !any;
	return x;
}

const uint32_t *guide_mask(struct guide_place *p, struct why *w)
{
	struct guide *u = p->guide;
	const struct mask *x;

	if (p->place.state == STATE_DEAD) {
		why(w, "the text has ended");
		return NULL;
	}
	u->m.steps = 0;
	x = find_mask(u, p->place.state);
	if (!x && u->m.fault == MATCHER_FULL && !flush(u))
		x = find_mask(u, p->place.state);
	if (!x) {
		matcher_why(&u->m, w);
		return NULL;
	}
	if (x->empty) {
		why(w, guide_may_end(p) ? "the grammar lets the text end here alone, and the vocabulary has no id for an end"
			: "no piece of the vocabulary goes on as the grammar wants");
		return NULL;
	}
	return x->bits;
}

void guide_apply(const uint32_t *mask, float *logits, int32_t n)
{
	for (int32_t i = 0; i < n; i += 32) {
		uint32_t word = mask[i / 32];
		int32_t end = n - i < 32 ? n - i : 32;

		if (word == UINT32_MAX)
			continue;
		for (int32_t k = 0; k < end; k++)
			logits[i + k] = word >> k & 1 ? logits[i + k] : -INFINITY;
	}
}
