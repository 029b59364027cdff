/* fork: states that begin alike. Segments without a name share memory, by whole extents and states, until one of them
 * writes there. From and to a named segment everything is copied. All are closed separately, in any order. The
 * functions return -1 with a reason if memory is short or the segment's file cannot grow. */
#ifndef STATE_FORK_H
#define STATE_FORK_H

#include "segment.h"

/* Replaces the contents of `to` by the first `length` positions of `from`, which must have at least that many. Both
 * must have the same shape. A `to` without a name must have just been opened. */
int segment_fork(struct segment *to, struct segment *from, size_t length, struct why *w);

/* The same for a named `to`, which is synced; it also gets the marks and the origin. After a failure the length of `to`
 * may be 0. */
int segment_copy(struct segment *to, const struct segment *from, size_t length, struct why *w);

/* Call before a batch writes positions [pos, pos + n), pos <= length: makes room for them, and copies the memory there
 * that other states share. Valid data does not change, even on failure. */
int segment_prepare(struct segment *s, size_t pos, size_t n, struct why *w);

#endif
