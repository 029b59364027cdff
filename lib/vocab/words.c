/* words: the ids of words. Those of short words are kept in a table, so that common words are merged once. A later word
 * replaces an earlier one of the same hash. */
#include "priv.h"

#include <stdlib.h>
#include <string.h>

enum { WORD_BYTES = 30, WORD_IDS = 8, WORDS = 1 << 13 };

struct word {
	unsigned char n, n_ids;         /* n 0: free */
	char s[WORD_BYTES];
	int32_t id[WORD_IDS];
};

struct word *words_open(void)
{
	return calloc(WORDS, sizeof(struct word));
}

int words_add_symbol(void *context, int32_t id, const char *s, size_t n, struct ids *out, struct why *w)
{
	const struct vocab *v = context;

	if (id >= 0)
		return ids_add(out, id) ? why(w, "out of memory") : 0;
	for (size_t i = 0; i < n; i++) {
		id = v->plain ? v->encoder->byte_id[(unsigned char)s[i]] : names_find(&v->tokens, s + i, 1);
		if (id < 0 && v->spm)
			return why(w, "tokenizer.ggml.tokens: no token for byte 0x%02x of the text, and no byte tokens",
				(unsigned char)s[i]);
		if (id >= 0 && ids_add(out, id))
			return why(w, "out of memory");
	}
	return 0;
}

int words_encode(struct vocab *v, const char *s, size_t n, struct ids *out, struct why *w)
{
	struct word *word = n && n <= WORD_BYTES ? &v->encoder->words[names_hash(s, n) % WORDS] : NULL;
	size_t start = out->n, n_ids;

	if (word && word->n == n && !memcmp(word->s, s, n)) {
		for (unsigned i = 0; i < word->n_ids; i++)
			if (ids_add(out, word->id[i]))
				return why(w, "out of memory");
		return 0;
	}
	if (n && (v->spm ? merge_text(v->encoder->merge, s, n, out, w) : bpe_word(v, s, n, out, w)))
		return -1;
	n_ids = out->n - start;
	if (word && n_ids <= WORD_IDS) {
		word->n = (unsigned char)n;
		word->n_ids = (unsigned char)n_ids;
		memcpy(word->s, s, n);
		if (n_ids)
			memcpy(word->id, out->id + start, n_ids * sizeof *word->id);
	}
	return 0;
}
