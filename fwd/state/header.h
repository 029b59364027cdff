/* header: the first SEGMENT_HEADER bytes of a named segment. A segment is in one of these states:
 *   empty          object_open() has made the file
 *   unfinished     the header's magic is 0, and there are no data. If its maker is killed here, the next process to
 *                  lock the segment makes it again
 *   finished       the magic is set, as the last step of making it. From here on, only extents, context, length,
 *                  marks, origin and recurrent state change
 * To detect damage, each word that changes contains its own complement, and a hash covers the rest. Private to
 * fwd/state. */
#ifndef STATE_HEADER_H
#define STATE_HEADER_H

#include <stdatomic.h>

#include "segment.h"

enum { REGIONS = 5 };

/* Blocks of one kind, each for `positions` positions. In the first extents they are `stride` bytes apart; kinds that
 * only some extents have before them are not counted. */
struct region {
	uint32_t kind, positions;
	uint64_t offset, bytes, stride;
};

struct segment_header {
	_Atomic uint64_t magic;
	uint32_t version, header_bytes;
	struct segment_shape shape;
	struct region region[REGIONS];
	uint64_t hash;                  /* of the members from version to region */
	_Atomic uint64_t n_ctx, length;
	struct mark mark[SEGMENT_MARKS], state_mark[STATE_MARKS];
	_Atomic uint64_t origin_hash;   /* if it does not match, the origin is unknown */
	struct segment_origin origin;
};

/* Writes the header of an empty segment, which is then finished. */
void header_write(struct segment_header *h, const struct segment_shape *shape, size_t n_ctx);

/* Reads the current header and size of the object. Returns 1 if it is finished or something else than a segment, 0
 * if there is no header yet, -1 on error. */
int header_read(const struct object *o, struct segment_header *h, size_t *bytes, struct why *w);

/* Checks everything that can be checked from the header and the size of a finished segment alone. h must be a copy that
 * no other process can change. */
int header_check(const struct segment_header *h, size_t bytes, struct why *w);

/* Whether the header has the magic of a segment. */
int header_is_segment(const struct segment_header *h);

/* The length; the header must have been checked. */
size_t header_length(const struct segment_header *h);
size_t header_n_ctx(const struct segment_header *h);

void header_set_length(struct segment_header *h, size_t length);        /* a release store */
void header_set_n_ctx(struct segment_header *h, size_t n_ctx);

/* The origin; empty if it is damaged. */
struct segment_origin header_origin(const struct segment_header *h);

#endif
