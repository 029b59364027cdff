/* ids: the token ids of a segment, one for each position. They are at the start of each extent, so at most KV_EXTENT of
 * them are adjacent. All positions must have room (segment_reserve()). */
#ifndef STATE_IDS_H
#define STATE_IDS_H

#include "segment.h"

/* segment_id(): the id at pos. segment_ids(): a pointer to the ids from pos to the next multiple of KV_EXTENT, borrowed
 * from the segment. */
int32_t segment_id(const struct segment *s, size_t pos);
const int32_t *segment_ids(const struct segment *s, size_t pos);

/* Copies ids[n] from, or to, positions [pos, pos + n). Below the length, writing must not change any id. */
void segment_read_ids(const struct segment *s, size_t pos, int32_t *ids, size_t n);
void segment_write_ids(struct segment *s, size_t pos, const int32_t *ids, size_t n);

/* The first position below `end` that has this id; SIZE_MAX: none. */
size_t segment_find(const struct segment *s, size_t end, int32_t id);

/* Returns 0 if all ids up to the length are below n_vocab, or -1 with a reason that names the first that is not. For
 * segments in files or loaded ones: anybody may have written these, and no hash covers the ids. */
int segment_check_ids(const struct segment *s, size_t n_vocab, struct why *w);

#endif
