/* recent: K and V of layers that see only a window of positions. Only the first extents have room for them: enough for
 * 4096 positions, or for the window and a batch if that is more. Extent i uses the room in extent i modulo their
 * number, so that later extents replace earlier ones. If a segment is cut back to a position whose window was replaced,
 * all rows are evaluated again.
 *
 * The reach is the end of the last extent that was written: what is there belongs to extents up to it. Its mark is set
 * before a batch replaces anything. While rows below the length are evaluated again, the mark stays as it was, and says
 * that their windows are gone. Private to fwd/state. */
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

/* How many positions, from its first on, count of the extent whose K and V lie in the room of extent i. */
size_t recent_counts(const struct segment *s, size_t i);

/* To a segment that has the same extents. */
void recent_copy(struct segment *to, const struct segment *from);

#endif
