/* word_cache: the ids of short words that were encoded before, so that common ones are merged once. A later word
 * replaces an earlier one of the same hash. */
#ifndef WORD_CACHE_H
#define WORD_CACHE_H

#include "ids.h"

struct word_cache;

struct word_cache *word_cache_open(void);       /* NULL: no memory; free() closes it */

/* Appends the ids of s[n] if they are known: 1, else 0; -1 when memory runs out. */
int word_cache_find(const struct word_cache *c, const char *s, size_t n, struct ids *out);

/* The ids of s[n] are ids->id[from..ids->n). */
void word_cache_add(struct word_cache *c, const char *s, size_t n, const struct ids *ids, size_t from);

#endif
