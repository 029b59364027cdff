/* recent: K and V of layers that see a window of positions only. The first extents have room for them, as many as
 * cover at least 4096 positions, and the window and a batch; then they take turns: the place of extent i is in extent i
 * modulo their number. Behind a cut back to where the window is gone, all rows are evaluated again.
 *
 * How far it went is the reach, the end of an extent: places may hold extents up to there. Its mark is set before a
 * batch replaces anything; while rows below the length are evaluated again it remains, and says that their windows are
 * gone. Private to segment.c and recurrent.c. */
#ifndef RECENT_H
#define RECENT_H

#include "segment.h"

/* Extents with room for K and V of such layers; 0: there are no such layers. */
size_t recent_extents(const struct segment_shape *p);

/* Reads the mark. */
void recent_open(struct segment *s);

/* Whether what the row at pos sees before it is there. */
int recent_holds(const struct segment *s, size_t pos);

/* Around a batch. */
void recent_begin(struct segment *s, size_t pos, size_t n);
void recent_commit(struct segment *s, size_t pos, size_t n);

/* To a segment that has the same extents. */
void recent_copy(struct segment *to, const struct segment *from);

#endif
