/* fork: states with a common beginning. Segments without a name share its memory, by whole extents and states, until
 * one of them writes there; a named one has a copy. Each is closed by itself, in any order. -1 with a reason: out of
 * memory, or the object cannot grow. */
#ifndef STATE_FORK_H
#define STATE_FORK_H

#include "segment.h"

/* Gives `to` the first `length` positions of `from`, which has at least that many, in place of its own. Both have the
 * same shape. A `to` without a name must just have been opened. */
int segment_fork(struct segment *to, struct segment *from, size_t length, struct why *w);

/* The same for a named `to`, which is synced; it also gets the marks and the origin. On failure its length may be 0. */
int segment_copy(struct segment *to, const struct segment *from, size_t length, struct why *w);

/* Due before a batch writes positions [pos, pos + n), where pos is at most the length: makes room for them, and copies
 * the memory there that is shared with other states. What counts does not change, even if it fails. */
int segment_prepare(struct segment *s, size_t pos, size_t n, struct why *w);

#endif
