/* kv_type: how K and V are stored. K and V of a sequence are in extents of KV_EXTENT positions, each with all layers
 * and KV heads of its positions. Within an extent, K and V of one layer and KV head are one contiguous block: K, its
 * scales, V, its scales.
 *
 * f16 and f32 are plain arrays:
 * 	K       in tiles of 16 positions, [8][dim_k][16], so that 16 scores are in the lanes of a vector
 * 	V       by rows, [128][dim_v]
 * For codes, K and V are rotated (kv_rotated()) before they are rounded, which spreads large elements over all.
 * q8_0 has one-byte codes, and half-precision scales for each position and group of 32 elements along the head's
 * dimension (fewer for the last if the dimension is not a multiple): value = scale · code, exactly. Four codes that are
 * multiplied and added together, of neighbouring elements of K or positions of V, lie in one lane of a vector:
 * 	K       [8][dim_k / 4, rounded up][16][4]
 * 	V       group after group, [32][elements of the group][4]: 32 times four positions
 * 	scales  [8][kv_scales(dim)][16]
 * q4_0 has codes of four bits, n, and value = scale · (n − 8). The last group is filled up. A byte holds the codes
 * of elements d and d + 16 of a group, the first in its low bits:
 * 	K       [8][groups][4][16][4]
 * 	V       [groups][32][16][4] */
#ifndef KV_TYPE_H
#define KV_TYPE_H

#include <stddef.h>
#include <stdint.h>

enum kv_type { KV_F16, KV_F32, KV_Q8_0, KV_Q4_0, KV_TYPES };
#define KV_TYPE_NAMES "f16|f32|q8_0|q4_0|"   /* for option tables: the names in this order */

enum {
	KV_EXTENT = 128,        /* positions of an extent */
	KV_TILE = 16,           /* positions of a tile of K, and of a tile of scales */
	KV_SCALED = 32,         /* elements that share a scale */
	KV_FOUR = 4,            /* codes in a lane */
	KV_DIM_MOST = 1 << 12   /* elements of K or V of a head */
};

/* Whether K and V are in codes. */
static inline int kv_coded(enum kv_type type)
{
	return type == KV_Q8_0 || type == KV_Q4_0;
}

/* The number of extents for this many positions. */
static inline size_t kv_extents(size_t positions)
{
	return (positions + KV_EXTENT - 1) / KV_EXTENT;
}

/* One KV head of one layer of a sequence: its block b is at extent[b] + offset. */
struct kv_head {
	unsigned char *const *extent;
	size_t offset;
	size_t h;               /* index of this KV head in the layer; its query heads follow from it */
};

/* K and V of KV_EXTENT positions; 64-byte aligned where the extent is. */
struct kv_block {
	void *k, *v;
	uint16_t *k_scale, *v_scale;    /* of codes only */
};

extern const char *const kv_type_name[KV_TYPES];

/* Bytes of a block: a multiple of 64. */
size_t kv_block_bytes(enum kv_type type, size_t dim_k, size_t dim_v);

/* The block that begins at `at`. */
struct kv_block kv_block_at(enum kv_type type, size_t dim_k, size_t dim_v, void *at);

/* Zeroes positions [from, KV_EXTENT) of the block that begins at `at`. */
void kv_block_clear(enum kv_type type, size_t dim_k, size_t dim_v, void *at, size_t from);

/* Copies K and V at position j of a block to position i of another. */
void kv_copy(enum kv_type type, size_t dim_k, size_t dim_v, const struct kv_block *from, size_t j,
	const struct kv_block *to, size_t i);

/* Where element d of position pos of a block is in K and in V: its index among the elements, two of which are in a byte
 * of q4_0. */
size_t kv_k_index(enum kv_type type, size_t dim_k, size_t pos, size_t d);
size_t kv_v_index(enum kv_type type, size_t dim_v, size_t pos, size_t d);

/* The number of scales of a position, and where scale i of a position is. */
size_t kv_scales(size_t dim);
size_t kv_scale_index(size_t dim, size_t pos, size_t i);

/* Of codes: how many adjacent elements are rotated together, by the Hadamard matrix of this size (its elements are
 * (-1)^bits(i & j)) divided by the root of the size: the largest power of two that divides dim.
 * Where V is a part of K, it has the rotation of K. */
size_t kv_rotated(size_t dim);

/* Code i, from 0 to 15, of codes in four bits. */
static inline int kv_code_4(const void *codes, size_t i)
{
	return ((const uint8_t *)codes)[i / 2] >> i % 2 * 4 & 15;
}

/* The scale of KV_SCALED elements whose largest magnitude is `most` (INFINITY if an element is not finite): most / 127
 * rounded to half precision. If that is infinite, codes are 0, and all values NaN. */
uint16_t kv_scale(float most);

/* The scale of q4_0: the best m · kv_steps[i], rounded to half precision, where m is the element of the largest
 * magnitude (of two with both signs, the positive one). It is 0 where |m| is below KV_LEAST, and infinite, so that all
 * values are NaN, where it is not below KV_MOST; then all codes are 0. */
enum { KV_STEPS = 8 };
extern const float kv_steps[KV_STEPS];
#define KV_LEAST 0x1p-20f
#define KV_MOST 0x1p18f

#endif
