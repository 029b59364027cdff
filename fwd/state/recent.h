/* recent: K and V of layers that see only a window of positions. Only the first extents have room for them: enough for
 * 4096 positions, or for the window and a batch if that is more. Extent i uses the room in extent i modulo their
 * number, so later extents replace earlier ones. If a segment is cut back to a position whose window was replaced, all
 * rows are evaluated again.
 *
 * The reach is the end of the last extent that was written; the room holds extents up to it. The mark of the reach is
 * set before a batch replaces anything. While rows below the length are evaluated again, the mark keeps its old value,
 * which shows that their windows are gone. Private to fwd/state. */
#ifndef RECENT_H
#define RECENT_H

#include "segment.h"

/* Number of extents with room for such K and V; 0 if no layer has a window. */
size_t recent_extents(const struct segment_shape *p);

/* Reads the mark. */
void recent_open(struct segment *s);

/* Whether the window before pos is still stored. */
int recent_holds(const struct segment *s, size_t pos);

/* Call before and after a batch. */
void recent_begin(struct segment *s, size_t pos, size_t n);
void recent_commit(struct segment *s, size_t pos, size_t n);

/* The number of valid positions, from its first one, of the extent whose K and V are in the room of extent i. */
size_t recent_valid(const struct segment *s, size_t i);

/* Copies to a segment that has the same extents. */
void recent_copy(struct segment *to, const struct segment *from);

#endif
