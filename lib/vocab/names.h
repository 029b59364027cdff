/* names: an array of strings in a model file, by number and by text. Strings stay in the mapping; beside it there are 4 bytes each for where it
 * starts, and a hash table of 4 bytes a slot for those that are looked up by text: a quarter of a million fit a core's cache. Even so, filling it
 * takes milliseconds, so a short text may have it filled with just the strings that can occur in it. */
#ifndef NAMES_H
#define NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "lib/gguf/gguf.h"
#include "lib/base/le.h"
#include "lib/base/why.h"

enum { NAMES_MAX = (1 << 24) - 1 };

struct names {
	const struct gguf_value *array; /* borrowed */
	uint32_t n;
	size_t longest;                 /* bytes of the longest string */
	uint32_t *at;                   /* [n]: where each string starts, from array->data */
	uint32_t *slots;                /* [mask + 1]: 8 bits of the hash above 24 bits of the number plus one; 0: free */
	uint32_t mask;
};

/* 0, or -1 with a reason; names_close() in either case. The array must be one of strings. */
int names_open(struct names *s, const struct gguf_value *array, struct why *w);
void names_close(struct names *s);

enum { NAMES_FIRST, NAMES_LAST };       /* which number is found by a text that occurs several times */

/* Fills the table anew. only[256]: strings whose first and last byte are marked there are found, others may be or not; NULL: all. */
int names_index(struct names *s, int which, const unsigned char *only, struct why *w);

/* Borrowed from the mapping. Its length stands before it in the file, and others may write there: what would go past the array reads as empty. */
static inline struct gguf_string names_get(const struct names *s, uint32_t i)
{
	const unsigned char *p = s->array->data + s->at[i];
	uint64_t n = le64(p - 8);
	struct gguf_string t = { (const char *)p, n > (uint64_t)(s->array->end - p) ? 0 : (size_t)n };

	return t;
}

/* The number of the string that is text[n], or -1; an empty one is never found. Needs names_index(). */
int32_t names_find(const struct names *s, const void *text, size_t n);

/* The hash that the table goes by, for other tables; n is not 0. */
uint64_t names_hash(const void *text, size_t n);

#endif
