/* shape: what the data of a segment is, which decides its size and who can use it. A named segment is its header, then
 * its extents. An extent has its ids and the data of its layers; the first extents also have the data of layers with a
 * window (recent.h), and recurrent state before them (recurrent.h). */
#ifndef SHAPE_H
#define SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "fwd/kernels/kv_type.h"

enum {
	SEGMENT_HEADER = 4096,  /* bytes before the first extent of a named segment (header.h) */
	SEGMENT_IDS = KV_EXTENT * sizeof(int32_t),      /* in bytes */
	SEGMENT_SIZES = 8       /* entries of a list of heads */
};

/* The KV heads in the data of an extent, in order: n of one size, then n of the next, and so on until n = 0. An entry
 * with dim_k 0 is no heads but dim_v floats for each of n groups of positions. If there are more sizes than entries,
 * the last one is { 1, 0, 0 }, and neither it nor what follows is scrubbed. */
struct segment_heads {
	uint32_t n, dim_k, dim_v;
};

static inline int shape_is_grouped(const struct segment_heads *h)
{
	return !h->dim_k && h->dim_v;
}

struct segment_shape {          /* must be equal in a segment and in the run that opens it */
	uint64_t model;         /* fingerprint of the model */
	uint64_t arithmetic;    /* version of the arithmetic: changes with any bit of K or V */
	uint64_t choices;       /* hash of other choices that change K and V: RoPE depending on -c, --override,
				 * adapters, control vectors */
	uint64_t layout;        /* hash of the layout of an extent's data: layers and heads */
	uint64_t bytes;         /* of an extent's data; a multiple of 64 */
	uint64_t recent_bytes;  /* of the data of layers with a window; a multiple of 64; 0: no such layers */
	uint64_t window;        /* the largest window, in positions */
	uint64_t state_bytes;   /* of recurrent state at one position; a multiple of 64 */
	uint64_t row_bytes;     /* of a row that recurrent layers keep; both 0: no such layers */
	uint32_t n_layer;
	uint32_t kv_type;       /* enum kv_type */
	uint32_t extent;        /* KV_EXTENT */
	uint32_t keeps_current; /* 1: the state after the latest row is kept, too */
	struct segment_heads heads[2][SEGMENT_SIZES];   /* [1]: of layers with a window */
};

/* Appends heads, or a kind of groups, to a list, unless it is full. */
void shape_add_heads(struct segment_heads list[SEGMENT_SIZES], struct segment_heads h);

/* Returns 0 if a segment can have this shape. */
int shape_check(const struct segment_shape *p, struct why *w);

/* Returns 0 if a segment of shape a can be used by a run that needs b; otherwise -1 with what differs. */
int shape_compare(const struct segment_shape *a, const struct segment_shape *b, struct why *w);

/* Whether the bytes of this many positions fit in a size_t. */
int shape_fits(const struct segment_shape *p, size_t positions);

/* shape_extent_bytes(): size of extent i. shape_bytes(): size of a named segment with n extents. shape_extent_at():
 * offset of extent i in it. */
size_t shape_extent_bytes(const struct segment_shape *p, size_t i);
size_t shape_bytes(const struct segment_shape *p, size_t n);
size_t shape_extent_at(const struct segment_shape *p, size_t i);

#endif
