/* Masks: a vocabulary's tree walked along a grammar's states.
 * There are two trees: one of the ids of up to NEAR bytes, which are nearly all, and one of the longer ids. In a
 * state with counts (a string of at most 100 characters, of which 57 are left) the short ids are tried from the
 * state in which counts above NEAR have no bound, so that one mask serves all such counts. The long ids are tried
 * from the state in which counts above the longest id have no bound.
 * Inside a string, where nearly every id is allowed, whole subtrees are taken without visiting their nodes: if any
 * characters of the kinds below a node, in any order, lead from a state to its usual successor, from there to the
 * next, and so on. */
#include "mask.h"

#include "kinds.h"
#include "match.h"
#include "trie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* near[AT_NEAR] of a state is for ids of up to NEAR bytes, near[AT_FAR] for the longest. */
enum { NEAR = 16, AT_NEAR = 0, AT_FAR = 1 };
enum { CACHE_BYTES = 1 << 24, CACHE_MIN = 8, CACHE_MAX = 1024 };
enum ids_covered { SHORT_IDS, ALL_IDS };

struct mask_text {
	struct held_state held; /* first, so that the matcher's list of held states is a list of texts */
	struct masker *masker;
};

struct cached_mask {
	uint32_t state;         /* STATE_DEAD: none */
	enum ids_covered ids;
	int empty;
	uint64_t used;          /* when, by the masker's clock */
	uint32_t *bits;
};

struct mask_tree {
	struct trie short_ids, long_ids;
};

struct masker {
	struct matcher m;
	struct mask_vocab vocab;
	const struct mask_tree *tree;
	struct mask_tree *own;  /* the tree, if it was built here */
	uint32_t *eog;          /* a mask */
	uint32_t *unnamed;      /* a mask: ids that neither end a text nor have a name in the grammar; or NULL */
	uint32_t *rows;         /* [longest id + 1]: the rows on the way down the tree */
	size_t size;            /* uint32_t elements of a mask */
	struct cached_mask *cache;
	size_t n_cached, cache_max;
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

static void drop(uint32_t *bits, int32_t id)
{
	bits[id / 32] &= ~((uint32_t)1 << id % 32);
}

/* The ids that end a text, as a mask of `size` elements. NULL: no memory. */
static uint32_t *find_ends(const struct mask_vocab *v, size_t size)
{
	uint32_t *bits = calloc(size + 1, sizeof *bits);

	for (int32_t i = 0; bits && i < v->n_eog; i++)
		if (v->eog[i] >= 0 && v->eog[i] < v->n)
			put(bits, v->eog[i]);
	return bits;
}

static int build_tries(struct mask_tree *t, const struct mask_vocab *v, const uint32_t *eog)
{
	struct sort_string *piece = calloc((size_t)v->n + 1, sizeof *piece);
	size_t n = 0;
	int bad;

	if (!piece)
		return -1;
	for (int32_t id = 0; id < v->n; id++) {
		size_t len = 0;
		const char *s = v->bytes(v->context, id, &len);

		if (s && len && len <= TRIE_PIECE_MAX && !has(eog, id))
			piece[n++] = (struct sort_string){ .s = s, .n = (uint32_t)len, .id = id };
	}
	bad = sort_strings(piece, n) || trie_build(&t->short_ids, piece, n, 1, NEAR)
		|| trie_build(&t->long_ids, piece, n, NEAR + 1, TRIE_PIECE_MAX);
	free(piece);
	return bad ? -1 : 0;
}

static size_t mask_size(const struct mask_vocab *v)
{
	return ((size_t)v->n + 31) / 32;
}

struct mask_tree *mask_tree_open(const struct mask_vocab *v, struct why *w)
{
	struct mask_tree *t = calloc(1, sizeof *t);
	uint32_t *eog = find_ends(v, mask_size(v));

	if (!t || !eog || build_tries(t, v, eog)) {
		why(w, "out of memory for the vocabulary's tree");
		mask_tree_close(t);
		t = NULL;
	}
	free(eog);
	return t;
}

void mask_tree_close(struct mask_tree *t)
{
	if (!t)
		return;
	trie_free(&t->short_ids);
	trie_free(&t->long_ids);
	free(t);
}

/* -1: no memory. */
static int find_unnamed(struct masker *k, const struct grammar *g)
{
	if (!g->n_tokens)
		return 0;
	k->unnamed = calloc(k->size, sizeof *k->unnamed);
	if (!k->unnamed)
		return -1;
	for (int32_t id = 0; id < k->vocab.n; id++)
		put(k->unnamed, id);
	for (uint32_t i = 0; i < g->n_tokens; i++)
		drop(k->unnamed, g->token[i]);
	for (size_t i = 0; i < k->size; i++)
		k->unnamed[i] &= ~k->eog[i];
	return 0;
}

static int prepare(struct masker *k, const struct grammar *g, struct why *w)
{
	size_t fit;

	k->size = mask_size(&k->vocab);
	fit = CACHE_BYTES / (k->size * sizeof *k->eog + 1);
	k->cache_max = fit < CACHE_MIN ? CACHE_MIN : fit > CACHE_MAX ? CACHE_MAX : fit;
	k->eog = find_ends(&k->vocab, k->size);
	k->cache = calloc(k->cache_max, sizeof *k->cache);
	if (!k->eog || !k->cache)
		return why(w, "out of memory for the grammar's masks");
	if (find_unnamed(k, g))
		return why(w, "out of memory for the grammar's masks");
	k->tree = k->vocab.tree;
	if (!k->tree && !(k->tree = k->own = mask_tree_open(&k->vocab, w)))
		return -1;
	k->rows = calloc((size_t)k->tree->long_ids.longest + NEAR + 1, sizeof *k->rows);
	return k->rows ? 0 : why(w, "out of memory for the vocabulary's tree");
}

struct masker *masker_open(const struct grammar *g, const struct mask_vocab *v, struct why *w)
{
	struct masker *k = calloc(1, sizeof *k);
	uint32_t far;

	if (!k) {
		why(w, "out of memory for the grammar's masks");
		return NULL;
	}
	k->vocab = *v;
	if (prepare(k, g, w))
		goto fail;
	far = k->tree->long_ids.longest > NEAR ? k->tree->long_ids.longest : NEAR;
	if (matcher_open(&k->m, g, (uint32_t[]){ NEAR, far }, w))
		goto fail;
	k->vocab.eog = NULL;
	return k;
fail:
	masker_close(k);
	return NULL;
}

void masker_close(struct masker *k)
{
	if (!k)
		return;
	while (k->m.held)
		mask_drop((struct mask_text *)k->m.held);
	matcher_close(&k->m);
	mask_tree_close(k->own);
	for (size_t i = 0; i < k->n_cached; i++)
		free(k->cache[i].bits);
	free(k->cache);
	free(k->eog);
	free(k->unnamed);
	free(k->rows);
	free(k);
}

/* ---- texts ---- */

static struct mask_text *new_text(struct masker *k, uint32_t state, struct why *w)
{
	struct mask_text *t = state == STATE_NONE ? NULL : malloc(sizeof *t);

	if (!t) {
		why(w, "out of memory for a text under the grammar");
		return NULL;
	}
	t->masker = k;
	matcher_hold(&k->m, &t->held, state);
	return t;
}

/* States get new numbers, so no cached mask is of use any more. */
static int flush(struct masker *k)
{
	for (size_t i = 0; i < k->n_cached; i++)
		k->cache[i].state = STATE_DEAD;
	return matcher_flush(&k->m);
}

struct mask_text *mask_start(struct masker *k, struct why *w)
{
	uint32_t state = matcher_start(&k->m);

	if (state == STATE_NONE && !flush(k))
		state = matcher_start(&k->m);
	return new_text(k, state, w);
}

struct mask_text *mask_fork(const struct mask_text *t, struct why *w)
{
	return new_text(t->masker, t->held.state, w);
}

void mask_drop(struct mask_text *t)
{
	if (!t)
		return;
	matcher_release(&t->masker->m, &t->held);
	free(t);
}

int mask_may_end(const struct mask_text *t)
{
	return matcher_ends(&t->masker->m, t->held.state);
}

int mask_must_end(const struct mask_text *t)
{
	return t->held.state == STATE_END;
}

static uint32_t after_token(struct masker *k, uint32_t state, int32_t id)
{
	const struct grammar *g = k->m.g;
	uint32_t number = 0;

	while (number < g->n_tokens && g->token[number] != id)
		number++;
	if (!g->n_tokens || (number == g->n_tokens && has(k->eog, id)))
		return STATE_DEAD;
	return matcher_token(&k->m, state, number);
}

static uint32_t after_bytes(struct masker *k, uint32_t state, int32_t id)
{
	size_t n = 0;
	const char *s = k->vocab.bytes(k->vocab.context, id, &n);

	return s && n && n <= TRIE_PIECE_MAX ? matcher_walk(&k->m, state, s, n) : STATE_DEAD;
}

/* The state after an id, by what it prints or as a token. One that ends the text leads to a state that may end. */
static uint32_t after(struct masker *k, uint32_t state, int32_t id)
{
	uint32_t printed, token;

	if (has(k->eog, id)) {
		token = matcher_ends(&k->m, state) ? STATE_END : after_token(k, state, id);
		return token == STATE_NONE || matcher_ends(&k->m, token) ? token : STATE_DEAD;
	}
	printed = after_bytes(k, state, id);
	if (printed == STATE_NONE)
		return printed;
	token = after_token(k, state, id);
	return token == STATE_DEAD ? printed : matcher_either(&k->m, printed, token);
}

int mask_accept_bytes(struct mask_text *t, const char *s, size_t n, struct why *w)
{
	struct masker *k = t->masker;
	uint32_t state;

	k->m.steps = 0;
	state = matcher_walk(&k->m, t->held.state, s, n);
	if (state == STATE_NONE && k->m.fault == MATCHER_FULL && !flush(k))
		state = matcher_walk(&k->m, t->held.state, s, n);
	if (state == STATE_NONE)
		return matcher_why(&k->m, w);
	if (state == STATE_DEAD)
		return why(w, "the grammar does not allow this text here");
	t->held.state = state;
	return 0;
}

int mask_accept(struct mask_text *t, int32_t id, struct why *w)
{
	struct masker *k = t->masker;
	uint32_t state;

	if (id < 0 || id >= k->vocab.n)
		return why(w, "id %d is outside the vocabulary", (int)id);
	k->m.steps = 0;
	state = after(k, t->held.state, id);
	if (state == STATE_NONE && k->m.fault == MATCHER_FULL && !flush(k))
		state = after(k, t->held.state, id);
	if (state == STATE_NONE)
		return matcher_why(&k->m, w);
	if (state == STATE_DEAD)
		return why(w, has(k->eog, id) ? "id %d ends the text where the grammar does not allow an end"
			: "the grammar does not allow id %d here", (int)id);
	t->held.state = has(k->eog, id) ? STATE_DEAD : state;
	return 0;
}

/* ---- masks ---- */

/* Sets the bits of all ids of the tree that can follow a state. */
static int try_ids(struct masker *k, const struct trie *t, uint32_t state, uint32_t *bits)
{
	const uint8_t *class_of = k->m.g->class_of;
	struct matcher *m = &k->m;
	const uint32_t *rows;
	int all;

	if (matcher_row(m, state))
		return -1;
	rows = m->rows.at;
	k->rows[0] = m->state[state].row - 1;
	for (uint32_t i = 0; i < t->n; ) {
		const struct trie_node *v = &t->node[i];
		uint32_t next = rows[k->rows[v->depth] + class_of[v->byte]], end;

		if (next == STATE_DEAD) {
			i = v->skip;
			continue;
		}
		if (v->ends)
			put(bits, t->id[v->first]);
		i++;
		if (v->skip == i)
			continue;
		all = v->height < TRIE_HIGH ? kinds_take(m, next, t->below[i - 1], v->height) : 0;
		if (all < 0 || (!all && matcher_row(m, next)))
			return -1;
		rows = m->rows.at;
		if (!all) {
			k->rows[v->depth + 1] = m->state[next].row - 1;
			continue;
		}
		end = v->skip < t->n ? t->node[v->skip].first : t->n_ids;
		for (uint32_t j = v->first; j < end; j++)
			put(bits, t->id[j]);
		i = v->skip;
	}
	return 0;
}

/* Sets the bits of the ids that are allowed as tokens. */
static int put_tokens(struct masker *k, uint32_t state, uint32_t *bits)
{
	const struct grammar *g = k->m.g;
	const uint32_t *next;

	if (!g->n_tokens)
		return 0;
	if (matcher_row(&k->m, state))
		return -1;
	next = k->m.rows.at + k->m.state[state].row - 1 + g->token_class;
	for (size_t i = 0; i < k->size && next[g->n_tokens] != STATE_DEAD; i++)
		bits[i] |= k->unnamed[i];
	for (uint32_t i = 0; i < g->n_tokens; i++)
		if (has(k->eog, g->token[i]) ? matcher_ends(&k->m, next[i]) : next[i] != STATE_DEAD)
			put(bits, g->token[i]);
	return 0;
}

static struct cached_mask *cached(struct masker *k, uint32_t state, enum ids_covered ids)
{
	for (size_t i = 0; i < k->n_cached; i++)
		if (k->cache[i].state == state && k->cache[i].ids == ids) {
			k->cache[i].used = ++k->clock;
			return &k->cache[i];
		}
	return NULL;
}

/* A mask of zeroes: a new one or the least recently used, but never the most recent. NULL: no memory. */
static struct cached_mask *new_mask(struct masker *k)
{
	struct cached_mask *x = &k->cache[k->n_cached];

	if (k->n_cached < k->cache_max) {
		x->bits = malloc((k->size + 1) * sizeof *x->bits);
		if (!x->bits && k->n_cached < 2)
			return NULL;
		k->n_cached += x->bits != NULL;
	}
	if (x == k->cache + k->cache_max || !x->bits) {
		x = k->cache;
		for (size_t i = 1; i < k->n_cached; i++)
			if (k->cache[i].used < x->used)
				x = &k->cache[i];
	}
	x->state = STATE_DEAD;
	x->used = ++k->clock;
	memset(x->bits, 0, (k->size + 1) * sizeof *x->bits);
	return x;
}

static const struct cached_mask *mask_of_short_ids(struct masker *k, uint32_t state)
{
	struct cached_mask *x = cached(k, state, SHORT_IDS);

	if (x)
		return x;
	x = new_mask(k);
	if (!x || try_ids(k, &k->tree->short_ids, state, x->bits))
		return NULL;
	x->state = state;
	x->ids = SHORT_IDS;
	return x;
}

/* NULL: the matcher's fault. */
static const struct cached_mask *mask_of(struct masker *k, uint32_t state)
{
	uint32_t near = k->m.state[state].near[AT_NEAR], far = k->m.state[state].near[AT_FAR];
	struct cached_mask *x = cached(k, far, ALL_IDS);
	const struct cached_mask *short_ids = NULL;
	int any = 0, ends = matcher_ends(&k->m, state);

	if (x)
		return x;
	k->m.fault = MATCHER_MEMORY;    /* unless another one is found */
	if (near != far && !(short_ids = mask_of_short_ids(k, near)))
		return NULL;
	x = new_mask(k);
	if (!x)
		return NULL;
	if (short_ids)
		memcpy(x->bits, short_ids->bits, k->size * sizeof *x->bits);
	else if (try_ids(k, &k->tree->short_ids, far, x->bits))
		return NULL;
	if (try_ids(k, &k->tree->long_ids, far, x->bits) || put_tokens(k, far, x->bits))
		return NULL;
	for (size_t i = 0; i < k->size; i++) {
		if (ends)
			x->bits[i] |= k->eog[i];
		any |= x->bits[i] != 0;
	}
	x->state = far;
	x->ids = ALL_IDS;
	x->empty = !any;
	return x;
}

const uint32_t *mask_find(struct mask_text *t, struct why *w)
{
	struct masker *k = t->masker;
	const struct cached_mask *x;

	if (t->held.state == STATE_DEAD) {
		why(w, "the text has ended");
		return NULL;
	}
	k->m.steps = 0;
	x = mask_of(k, t->held.state);
	if (!x && k->m.fault == MATCHER_FULL && !flush(k))
		x = mask_of(k, t->held.state);
	if (!x) {
		matcher_why(&k->m, w);
		return NULL;
	}
	if (x->empty) {
		why(w, mask_may_end(t) ? "the grammar allows only an end here, and the vocabulary has no token for it"
			: "no token of the vocabulary continues the text as the grammar demands");
		return NULL;
	}
	return x->bits;
}

void mask_apply(const uint32_t *mask, float *logits, int32_t n)
{
	for (int32_t i = 0; i < n; i += 32) {
		uint32_t bits = mask[i / 32];
		int32_t end = n - i < 32 ? n - i : 32;

		if (bits == UINT32_MAX)
			continue;
		for (int32_t k = 0; k < end; k++)
			logits[i + k] = bits >> k & 1 ? logits[i + k] : -INFINITY;
	}
}
