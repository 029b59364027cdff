/* recurrent: what a segment keeps for layers with recurrent state, besides the extents. K and V can be cut back to any
 * position, but a recurrent state cannot. Therefore states of earlier positions are kept, at starts of chunks of
 * STATE_CHUNK positions (segment.h):
 *   ring        rows of the last two chunks; a chunk replaces the last one with the same parity. The mark of a half
 *               is the chunk whose rows below the length it holds
 *   snapshots   snapshot i is the state at the latest position of the form STATE_CHUNK · 2^i · odd. So distances
 *               double, and adjacent chunks have different snapshots. The mark is the position
 *   current     the state after the latest row, of layers that update it row by row. The mark is its position
 * The state at position 0 is zero. A batch clears the marks of what it will replace before it begins, and sets the new
 * marks before its rows become valid. So after a kill whatever is marked is right, and the rest is recomputed from the
 * ids.
 *
 * Ring and current are before the first extent, snapshot i is before the extent that has row STATE_CHUNK · 2^i - 1, so
 * that all are allocated as a segment grows. Private to fwd/state. */
#ifndef RECURRENT_H
#define RECURRENT_H

#include "segment.h"

/* Returns 0 if the sizes in a shape are possible. */
int recurrent_check(const struct segment_shape *p, struct why *w);

/* recurrent_fixed(): bytes of ring and current. recurrent_snapshots(): number of snapshots before the end of extent
 * n - 1. */
size_t recurrent_fixed(const struct segment_shape *p);
size_t recurrent_snapshots(size_t n);

/* recurrent_map() sets the pointers to the ring and current of a segment in a file; recurrent_add(), those to the
 * snapshots before extent i. */
void recurrent_map(struct segment *s, unsigned char *ring);
void recurrent_add(struct segment *s, size_t i, unsigned char *extent);

/* The same in memory of the process, for n extents. Call again when n grows. */
int recurrent_grow(struct segment *s, size_t n, struct why *w);
void recurrent_free(struct segment *s);

/* The position from which rows must be evaluated again so that the segment can continue at its length. Because of
 * windows (recent.h) it may be further back. */
size_t recurrent_next(const struct segment *s);

/* Call before and after a batch. begin clears the marks of what the batch replaces; commit sets the new ones. */
void recurrent_begin(struct segment *s, size_t pos, size_t n);
void recurrent_commit(struct segment *s, size_t pos, size_t n);

/* Zeroes invalid data. */
void recurrent_scrub(struct segment *s);

/* Copies the valid states of the first `length` positions to a segment with as much room. */
void recurrent_copy(struct segment *to, const struct segment *from, size_t length);

/* For segments without a name. recurrent_share(): a new segment, which has only extents, shares the states of `from`.
 * recurrent_own(): before a batch writes positions [from, end), copies the states there that are shared. */
void recurrent_share(struct segment *to, const struct segment *from);
int recurrent_own(struct segment *s, size_t from, size_t end, struct why *w);

#endif
