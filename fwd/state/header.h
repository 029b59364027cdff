/* header: the first SEGMENT_HEADER bytes of a named segment. Who may see which state of it:
 *   nothing        object_open() made it
 *   unfinished     the header's magic is 0: no data yet. A maker that was killed leaves it; whoever locks it next
 *                  begins again
 *   finished       the magic is written last; from here on only extents, context, length, marks, origin and recurrent
 *                  state change
 * The words that change each hold their own complement, and a hash covers the rest, so that damage shows. Private to
 * fwd/state. */
#ifndef STATE_HEADER_H
#define STATE_HEADER_H

#include <stdatomic.h>

#include "segment.h"

enum { REGIONS = 5 };

/* Pieces of one kind, each of `positions` positions, `stride` bytes apart in the first extents; but for what comes
 * before some extents only. */
struct region {
	uint32_t kind, positions;
	uint64_t offset, bytes, stride;
};

struct segment_header {
	_Atomic uint64_t magic;
	uint32_t version, header_bytes;
	struct segment_shape shape;
	struct region region[REGIONS];
	uint64_t hash;                  /* of version to region */
	_Atomic uint64_t n_ctx, length;
	struct mark mark[SEGMENT_MARKS], state_mark[STATE_MARKS];
	_Atomic uint64_t origin_hash;   /* that of another origin: it is not known */
	struct segment_origin origin;
};

/* Finishes the header of an empty segment. */
void header_write(struct segment_header *h, const struct segment_shape *shape, size_t n_ctx);

/* The header and the size of the object as they are now. 1: finished, 0: there is no header yet. */
int header_read(const struct object *o, struct segment_header *h, size_t *bytes, struct why *w);

/* Checks all that can be known from the header and the size of a finished segment alone. h: a copy, which nobody
 * changes. */
int header_check(const struct segment_header *h, size_t bytes, struct why *w);

/* Whether it has the magic of a segment. */
int header_is_segment(const struct segment_header *h);

/* Of a header that was checked. */
size_t header_length(const struct segment_header *h);
size_t header_n_ctx(const struct segment_header *h);

void header_set_length(struct segment_header *h, size_t length);        /* a release store */
void header_set_n_ctx(struct segment_header *h, size_t n_ctx);

/* Empty unless it is whole. */
struct segment_origin header_origin(const struct segment_header *h);

#endif
