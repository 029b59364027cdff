/* names: an array of strings in a model file, looked up by number and by text. The strings stay in the mapping. Beside
 * them are an array of their offsets and a hash table, with 4 bytes for each entry, so that both fit a core's cache for
 * a quarter of a million strings. Filling the table still takes milliseconds; for a short text it is therefore filled
 * only with the strings that can occur in it. */
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
	/* [mask + 1]: 8 bits of the hash above 24 bits of the number plus one; 0: free */
	uint32_t *slots;
	uint32_t mask;
	int repeat;                     /* some indexed strings have the same text */
};

/* array must be an array of strings. 0, or -1 with a reason; call names_close() in either case. */
int names_open(struct names *s, const struct gguf_value *array, struct why *w);
void names_close(struct names *s);

enum { NAMES_FIRST, NAMES_LAST };       /* which of several strings of the same text is found */

/* Refills the table. only[256]: strings whose first and last bytes are marked are found, others may be; NULL: all
 * are. */
int names_index(struct names *s, int which, const unsigned char *only, struct why *w);

/* String number i, borrowed from the mapping. Its length precedes it in the file, which other processes may write to: a
 * string that would go past the array reads as empty. */
static inline struct gguf_string names_get(const struct names *s, uint32_t i)
{
	const unsigned char *p = s->array->data + s->at[i];
	uint64_t n = le64(p - 8);

	return (struct gguf_string){ (const char *)p, n > (uint64_t)(s->array->end - p) ? 0 : (size_t)n };
}

/* The number of the string text[n], or -1; empty strings are not found. Call names_index() first. */
int32_t names_find(const struct names *s, const void *text, size_t n);

#endif
