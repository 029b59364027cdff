/* ids: the token ids of a segment, one for each position. They lie at the start of each extent, so that no more than
 * KV_EXTENT of them are in a row. All positions must have room (segment_reserve()). */
#ifndef STATE_IDS_H
#define STATE_IDS_H

#include "segment.h"

/* The id at pos; ids[] from pos to the next multiple of KV_EXTENT, borrowed from the segment. */
int32_t segment_id(const struct segment *s, size_t pos);
const int32_t *segment_ids(const struct segment *s, size_t pos);

/* Copies ids[n] from positions [pos, pos + n), or there. Writing does not change what counts: positions below the
 * length must keep their ids. */
void segment_read_ids(const struct segment *s, size_t pos, int32_t *ids, size_t n);
void segment_write_ids(struct segment *s, size_t pos, const int32_t *ids, size_t n);

/* 0 if all ids up to the length are below n_vocab; -1 with a reason that names the first that is not. For what lies in
 * a file or was loaded, which anybody may have written and no hash covers. */
int segment_check_ids(const struct segment *s, size_t n_vocab, struct why *w);

#endif
