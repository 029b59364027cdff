/* recurrent: what a segment keeps for layers with recurrent state, beside the extents. K and V can be cut back to any
 * position; a recurrent state cannot, so states of earlier positions are kept, at starts of chunks of STATE_CHUNK
 * positions (segment.h):
 *   ring        rows of the last two chunks: those of a chunk with the same parity replace them. A half's mark is the
 *               chunk whose rows below the length it holds
 *   snapshots   snapshot i is the state at the latest position STATE_CHUNK · 2^i · odd, so that distances double and
 *               neither of two neighbouring chunks' starts replaces the other. Its mark is that position
 *   current     the state after the latest row, of layers that are scanned row by row. Its mark is its position
 * The state at 0 is zero. A batch removes the marks of what it replaces before it begins, and sets the new ones before
 * its rows count. So after a kill whatever is marked is right, and the rest is computed again from the ids.
 *
 * Ring and current lie before the first extent, snapshot i before the extent with row STATE_CHUNK · 2^i - 1, so that
 * all are allocated as a segment grows. Private to fwd/state. */
#ifndef RECURRENT_H
#define RECURRENT_H

#include "segment.h"

/* Whether the sizes in a shape are possible. */
int recurrent_check(const struct segment_shape *p, struct why *w);

/* Bytes of ring and current; snapshots before the end of extent n - 1. */
size_t recurrent_fixed(const struct segment_shape *p);
size_t recurrent_snapshots(size_t n);

/* Binds a segment in a file to its ring and current, which lie there; to the snapshots before extent i, which lies
 * there. */
void recurrent_map(struct segment *s, unsigned char *ring);
void recurrent_add(struct segment *s, size_t i, unsigned char *extent);

/* The same in memory of the process, for n extents; more is added where n grows. */
int recurrent_grow(struct segment *s, size_t n, struct why *w);
void recurrent_free(struct segment *s);

/* The position from which rows must be evaluated again so that the segment can continue at its length; recent.h may
 * move it further back. */
size_t recurrent_next(const struct segment *s);

/* The marks of a batch: takes away those of what it replaces; sets the new ones. */
void recurrent_begin(struct segment *s, size_t pos, size_t n);
void recurrent_commit(struct segment *s, size_t pos, size_t n);

/* Zeroes what does not count. */
void recurrent_scrub(struct segment *s);

/* Copies the valid states of the first `length` positions to a segment with as much room. */
void recurrent_copy(struct segment *to, const struct segment *from, size_t length);

/* For segments without a name. The first shares the states of `from` with a new segment, which has extents only; the
 * second copies, before a batch writes positions [from, end), states there that are shared. */
void recurrent_share(struct segment *to, const struct segment *from);
int recurrent_own(struct segment *s, size_t from, size_t end, struct why *w);

#endif
