/* digest: whether a named segment belongs to a model. It does if it was made with the same file (device, inode, size
 * and time of the last change); where that differs, if the digest of all weights is the same; where no digest was
 * stored, it does not. The digest of a model takes seconds for tens of gigabytes, so it is computed in the background
 * while the segment that lacks it is open. */
#ifndef DIGEST_H
#define DIGEST_H

#include "lib/base/why.h"
#include "lib/gguf/gguf.h"
#include "segment.h"

/* The weights that a segment belongs to: of a model file, those with used[i], or all if it is NULL. */
struct weights {
	const struct gguf *g;
	const unsigned char *used;
	size_t n_vocab;         /* of the model; for digest_check() alone */
};

/* 0 if the segment may be used with these weights, and all its ids are in their vocabulary; it then belongs to them and
 * keeps the name and path of their model. A segment without a name may always be used. */
int digest_check(struct segment *s, const struct weights *of, struct why *w);

/* Computes the digest now, if the segment lacks it; it belongs to this model. */
void digest_store(struct segment *s, const struct weights *of);

struct digest;

/* Starts computing the digest that the segment lacks; s and the file are borrowed until digest_close(). NULL, which is
 * no error: nothing to do, or no thread. */
struct digest *digest_start(struct segment *s, const struct weights *of);

/* Lets the computation end if little is left of it, else gives it up: the next process begins again. NULL is
 * allowed. */
void digest_close(struct digest *d);

#endif
