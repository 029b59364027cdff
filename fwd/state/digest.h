/* digest: decides whether a named segment belongs to a model. It does if it was made with the same file (device, inode,
 * size and modification time). If that differs, it does if the digest of all weights is the same. If no digest was
 * stored, it does not. Computing the digest of tens of gigabytes takes seconds, so this is done in the background while
 * a segment that lacks one is open. */
#ifndef DIGEST_H
#define DIGEST_H

#include "lib/base/why.h"
#include "lib/gguf/gguf.h"
#include "segment.h"

/* The weights to compare with: the tensors i of a model file with used[i], or all of them if used is NULL. */
struct weights {
	const struct gguf *g;
	const unsigned char *used;
	size_t n_vocab;         /* of the model; only digest_check() uses it */
};

/* Returns 0 if the segment may be used with these weights and all its ids are in their vocabulary. The segment then
 * belongs to them and stores the name and path of their model. Segments without a name are always accepted. */
int digest_check(struct segment *s, const struct weights *of, struct why *w);

/* Computes and stores the digest now, unless the segment has one. The segment must belong to this model. */
void digest_store(struct segment *s, const struct weights *of);

struct digest;

/* Starts computing the digest in the background, for segment s, unless it has one, or for any (NULL). Borrows s and the
 * model file until digest_close(). Returns NULL if there is nothing to do or no thread can be started; that is not an
 * error. */
struct digest *digest_start(struct segment *s, const struct weights *of);

/* The digest; 0 as long as it is not known. d may be NULL. */
uint64_t digest_value(const struct digest *d);

/* Waits for the digest if it is almost done; otherwise gives it up, and the next process that opens the segment starts
 * again. Returns digest_value(). d may be NULL. */
uint64_t digest_close(struct digest *d);

#endif
