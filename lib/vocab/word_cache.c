/* word_cache: a table with one entry for each hash. */
#include "word_cache.h"

#include <stdlib.h>
#include <string.h>

#include "names.h"

enum { WORD_BYTES = 30, WORD_IDS = 8, ENTRIES = 1 << 13 };

struct word_cache {
	struct entry {
		unsigned char n, n_ids; /* n 0: free */
		char s[WORD_BYTES];
		int32_t id[WORD_IDS];
	} entry[ENTRIES];
};

struct word_cache *word_cache_open(void)
{
	return calloc(1, sizeof(struct word_cache));
}

int word_cache_find(const struct word_cache *c, const char *s, size_t n, struct ids *out)
{
	const struct entry *e;

	if (n > WORD_BYTES)
		return 0;
	e = &c->entry[names_hash(s, n) % ENTRIES];
	if (e->n != n || memcmp(e->s, s, n))
		return 0;
	for (unsigned i = 0; i < e->n_ids; i++)
		if (ids_add(out, e->id[i]))
			return -1;
	return 1;
}

void word_cache_add(struct word_cache *c, const char *s, size_t n, const struct ids *ids, size_t from)
{
	size_t n_ids = ids->n - from;
	struct entry *e;

	if (n > WORD_BYTES || n_ids > WORD_IDS)
		return;
	e = &c->entry[names_hash(s, n) % ENTRIES];
	e->n = (unsigned char)n;
	e->n_ids = (unsigned char)n_ids;
	memcpy(e->s, s, n);
	if (n_ids)
		memcpy(e->id, ids->id + from, n_ids * sizeof *e->id);
}
