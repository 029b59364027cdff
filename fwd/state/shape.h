/* shape: what the data of a segment is, and so how large it is and who may use it. A named segment is its header, then
 * its extents; an extent is its ids, the data of its layers, and in the first ones that of layers with a window
 * (recent.h). Recurrent state lies before the first extents (recurrent.h). */
#ifndef SHAPE_H
#define SHAPE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "fwd/kernels/kv_type.h"

enum {
	SEGMENT_HEADER = 4096,  /* bytes before the first extent of a named segment (header.h) */
	SEGMENT_IDS = KV_EXTENT * sizeof(int32_t),      /* bytes */
	SEGMENT_SIZES = 8       /* of heads, in a list */
};

/* The KV heads in the data of an extent, in order: n of one size, then n of the next, up to n = 0. Sizes that do not
 * fit in the list are left out at its end. dim_k 0: no heads, but dim_v floats for each of n groups of positions. */
struct segment_heads {
	uint32_t n, dim_k, dim_v;
};

static inline int shape_is_grouped(const struct segment_heads *h)
{
	return !h->dim_k && h->dim_v;
}

struct segment_shape {          /* what must agree between a segment and the fwd that opens it */
	uint64_t model;         /* fingerprint */
	uint64_t arithmetic;    /* version of the arithmetic: a new number with any change to a bit of K or V */
	uint64_t choices;       /* hash of what else changes K and V: RoPE as it follows from -c, overrides */
	uint64_t layout;        /* hash of how the data of an extent is divided among layers and heads */
	uint64_t bytes;         /* of an extent's data: a multiple of 64 */
	uint64_t recent_bytes;  /* of the data of layers with a window: a multiple of 64; 0: there are none */
	uint64_t window;        /* positions that these see, at most */
	uint64_t state_bytes;   /* of the recurrent state at one position: a multiple of 64 */
	uint64_t row_bytes;     /* of what such layers keep of each recent position; both 0: there are none */
	uint32_t n_layer;
	uint32_t kv_type;       /* enum kv_type */
	uint32_t extent;        /* KV_EXTENT */
	uint32_t scanned;       /* 1: the state after the latest row is kept too */
	struct segment_heads heads[2][SEGMENT_SIZES];   /* [1]: of layers with a window */
};

/* Appends heads, or a kind of groups, to a list, unless it is full. */
void shape_add_heads(struct segment_heads list[SEGMENT_SIZES], struct segment_heads h);

/* 0 if a segment can have this shape. */
int shape_check(const struct segment_shape *p, struct why *w);

/* 0 if a segment of shape a is what a run with b needs, or why not. */
int shape_compare(const struct segment_shape *a, const struct segment_shape *b, struct why *w);

/* Whether the bytes of these positions can be counted in a size_t. */
int shape_fits(const struct segment_shape *p, size_t positions);

/* Bytes of extent i; of a named segment with n extents; where extent i of one lies. */
size_t shape_extent_bytes(const struct segment_shape *p, size_t i);
size_t shape_bytes(const struct segment_shape *p, size_t n);
size_t shape_extent_at(const struct segment_shape *p, size_t i);

#endif
