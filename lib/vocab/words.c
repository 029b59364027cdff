/* vocab: the words that were met before, so that common ones are joined once. */
#include "priv.h"

#include <string.h>

static struct word *place(const struct vocab *v, const char *s, size_t n)
{
	return &v->work->words[names_hash(s, n) % WORDS];
}

int words_recall(const struct vocab *v, const char *s, size_t n, struct ids *out)
{
	const struct word *word;

	if (n > WORD_BYTES)
		return 0;
	word = place(v, s, n);
	if (word->n != n || memcmp(word->s, s, n))
		return 0;
	for (unsigned i = 0; i < word->n_ids; i++)
		if (ids_add(out, word->id[i]))
			return -1;
	return 1;
}

void words_keep(const struct vocab *v, const char *s, size_t n, const struct ids *ids, size_t from)
{
	size_t n_ids = ids->n - from;
	struct word *word;

	if (n > WORD_BYTES || n_ids > WORD_IDS)
		return;
	word = place(v, s, n);
	word->n = (unsigned char)n;
	word->n_ids = (unsigned char)n_ids;
	memcpy(word->s, s, n);
	for (size_t i = 0; i < n_ids; i++)
		word->id[i] = ids->id[from + i];
}
