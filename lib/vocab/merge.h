/* merge: joins neighbouring symbols of a text, best pair first, as both SPM (by score) and byte-level BPE (by rank) do.
 * Long texts are merged in parts, with the same result, so that working memory does not grow with the text. */
#ifndef MERGE_H
#define MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/ids.h"
#include "names.h"

struct merge_pair {
	uint32_t cost;                  /* the pair with the lowest cost is joined first; ties go to the leftmost */
	int32_t id;                     /* of the joined token, or -1 */
};

struct merge_rules {
	void *context;
	const struct names *tokens;     /* indexed */
	const int32_t *byte_id;         /* [256]: the symbols are bytes at first, of these tokens. NULL: characters */
	/* Whether s[0..left) and s[left..n) can be joined: 0 and the pair, or -1. Depends on their bytes alone. */
	int (*join)(void *context, const char *s, size_t left, size_t n, struct merge_pair *pair);
	/* Appends the ids of the symbol s[n], whose token is id, or -1. */
	int (*add)(void *context, int32_t id, const char *s, size_t n, struct ids *out, struct why *w);
};

struct merge;

struct merge *merge_open(struct merge_rules rules);     /* NULL: no memory */
void merge_close(struct merge *m);

/* Appends the ids of s[n]. */
int merge_text(struct merge *m, const char *s, size_t n, struct ids *out, struct why *w);

#endif
