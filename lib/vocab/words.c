/* words: the ids of words. Those of short words are kept in a table, so that common words are encoded once. Of the
 * words of the same hash the last two are kept. The table is larger than a core's cache, so words are looked up some
 * words ahead of where their ids are needed. */
#include "encoder.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/hash.h"
#include "unicode.h"

enum { WORD_BYTES = 30, WORD_IDS = 8, WORDS = 1 << 15 };

struct word {                           /* a cache line */
	uint64_t first;                 /* hash_first() of the word */
	char rest[WORD_BYTES - 8];      /* its other bytes */
	unsigned char n, n_ids;         /* n 0: free */
	int32_t id[WORD_IDS];
};

int words_open(struct vocab *v, struct why *w)
{
	struct encoder *e = v->encoder;

	e->word_memory = calloc(WORDS + 1, sizeof *e->words);
	e->words = (struct word *)(((uintptr_t)e->word_memory + sizeof *e->words - 1) & -sizeof *e->words);
	return e->word_memory ? 0 : why(w, "out of memory");
}

int words_open_merged(struct vocab *v, const struct merge_rules *rules, struct why *w)
{
	v->encoder->merge = merge_open(*rules);
	return v->encoder->merge ? words_open(v, w) : why(w, "out of memory");
}

int words_index(struct vocab *v, const unsigned char *only, struct why *w)
{
	ranks_free(&v->encoder->ranks);         /* indexed again when needed */
	if (names_index(&v->tokens, NAMES_LAST, only, w))
		return -1;
	if (!v->bytes)
		bpe_find_bytes(v);
	return 0;
}

int words_repair(struct vocab *v, const char **text, size_t *n, struct why *w)
{
	int above = v->kind->flags & KIND_ABOVE;
	struct encoder *e = v->encoder;

	if (unicode_good(*text, *n, above) == *n)
		return 0;
	if (*n > SIZE_MAX / 3 || grow_scratch(&e->repaired, &e->repaired_room, 3 * *n))
		return why(w, "out of memory");
	*n = unicode_repair(*text, *n, above, e->repaired);
	*text = e->repaired;
	return 0;
}

int words_add_symbol(void *context, int32_t id, const char *s, size_t n, struct ids *out, struct why *w)
{
	const struct vocab *v = context;

	if (id >= 0)
		return ids_add(out, id) ? why(w, "out of memory") : 0;
	for (size_t i = 0; i < n; i++) {
		id = v->bytes ? v->encoder->byte_id[(unsigned char)s[i]] : names_find(&v->tokens, s + i, 1);
		if (id < 0 && !v->pretok)
			return why(w, "tokenizer.ggml.tokens: no token for byte 0x%02x of the text, and no byte tokens",
				(unsigned char)s[i]);
		if (id >= 0 && ids_add(out, id))
			return why(w, "out of memory");
	}
	return 0;
}

int words_add_unknown(const struct vocab *v, struct ids *out, struct why *w)
{
	if (v->rules.unknown < 0)
		return why(w, "tokenizer.ggml.unknown_token_id: missing, and the text has a character without a token");
	return ids_add(out, v->rules.unknown) ? why(w, "out of memory") : 0;
}

/* ---- where words end ---- */

static void mark_join(struct encoder *e, char before, char after)
{
	unsigned pair = 256u * (unsigned char)before + (unsigned char)after;

	e->joins[pair / 32] |= 1u << pair % 32;
}

/* Marks the bytes that follow each other in an array of tokens, or of merges, whose space counts for nothing. */
static void find_joins(struct encoder *e, const struct gguf_value *array)
{
	const unsigned char *at = array->data;

	for (uint64_t i = 0; i < array->n; i++) {
		struct gguf_string s = gguf_next_string(array, &at);

		for (size_t k = 1; k < s.n; k++) {
			mark_join(e, s.s[k - 1], s.s[k]);
			if (s.s[k] == ' ' && k + 1 < s.n)
				mark_join(e, s.s[k - 1], s.s[k + 1]);
		}
	}
}

void words_find_joins(struct vocab *v)
{
	struct encoder *e = v->encoder;

	if (e->knows_joins)
		return;
	find_joins(e, v->tokens.array);
	if (v->merges)
		find_joins(e, v->merges);
	e->knows_joins = 1;
}

int words_joined(const struct encoder *e, const char *s)
{
	unsigned pair = 256u * (unsigned char)s[-1] + (unsigned char)s[0];

	return e->joins[pair / 32] >> pair % 32 & 1;
}

/* ---- the table ---- */

static int is(const struct word *word, const struct word_ahead *a)
{
	return word->first == a->first && word->n == a->n && (a->n <= 8 || !memcmp(word->rest, a->s + 8, a->n - 8));
}

/* Appends the ids of a cached word: all that it has room for, because copying a constant length takes no call, less
 * those that it does not have. */
static int add_cached(const struct word *word, struct ids *out, struct why *w)
{
	if (ids_append(out, word->id, WORD_IDS, w))
		return -1;
	out->n -= WORD_IDS - word->n_ids;
	return 0;
}

/* The ids are those from ids->id[start] on. */
static void cache(const struct word_ahead *a, const struct ids *ids, size_t start)
{
	struct word *word = a->cached;
	size_t n = ids->n - start;

	word[1] = word[0];
	word->first = a->first;
	word->n = (unsigned char)a->n;
	word->n_ids = (unsigned char)n;
	if (a->n > 8)
		memcpy(word->rest, a->s + 8, a->n - 8);
	if (n)          /* there is no array before the first id */
		memcpy(word->id, ids->id + start, n * sizeof *ids->id);
}

/* Appends the ids of a word. */
static int encode(struct vocab *v, const struct word_ahead *a, struct ids *out, struct why *w)
{
	size_t start = out->n;

	if (a->cached && is(a->cached, a))
		return add_cached(a->cached, out, w);
	if (a->cached && is(a->cached + 1, a))
		return add_cached(a->cached + 1, out, w);
	if (v->kind->encode_word(v, a->s, a->n, out, w))
		return -1;
	if (a->cached && out->n - start <= WORD_IDS)
		cache(a, out, start);
	return 0;
}

int words_add(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	struct word_ahead *word = &e->ahead[e->n_ahead];

	if (!n)
		return 0;
	*word = (struct word_ahead){ s, n, hash_first(s, n), NULL };
	if (n <= WORD_BYTES) {
		word->cached = &e->words[hash_text(s, n) % (WORDS / 2) * 2];
		__builtin_prefetch(word->cached);
	}
	return ++e->n_ahead == WORDS_AHEAD ? words_flush(v, out, w) : 0;
}

int words_flush(struct vocab *v, struct ids *out, struct why *w)
{
	struct encoder *e = v->encoder;
	size_t n = e->n_ahead;

	e->n_ahead = 0;
	for (size_t i = 0; i < n; i++)
		if (encode(v, &e->ahead[i], out, w))
			return -1;
	return 0;
}
