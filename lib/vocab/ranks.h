/* ranks: the merges of a byte-level BPE, found by the token that they make. Files list merges in the order of the
 * tokens that they make, so one comparison finds the token of most merges, and no second hash table is needed. */
#ifndef RANKS_H
#define RANKS_H

#include "lib/gguf/gguf.h"
#include "lib/base/why.h"
#include "names.h"

struct ranks {                          /* starts as zeroes */
	uint32_t *first;                /* [tokens]: a merge that makes this token, plus one; 0: none does */
	struct ranks_merge {
		uint32_t left;          /* bytes of its left side */
		uint32_t next;          /* another merge that makes the same token, plus one, or 0 */
	} *merge;                       /* [merges] */
	struct names others;            /* indexed if some merges make no token: all merges, as the file spells them */
};

/* Reads the merges that make indexed tokens. tokens: names_index(tokens, NAMES_LAST, only) was called. May be called
 * again. -1 with a reason. */
int ranks_index(struct ranks *r, const struct names *tokens, const struct gguf_value *merges,
	const unsigned char *only, struct why *w);
void ranks_free(struct ranks *r);

/* The rank of the merge of s[0..left) and s[left..n), as tokens spell them, which makes token id, or no token (-1).
 * -1: there is no such merge. Changes s, which has room for one more byte. */
int32_t ranks_find(const struct ranks *r, int32_t id, char *s, size_t left, size_t n);

#endif
