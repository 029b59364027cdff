/* kv_type: how K and V are stored. f16 and f32 are arrays of such numbers. q8_0 has codes of one byte and, beside them, scales in half precision: one for
 * each position and block of 32 elements along a head's dimension (the last block shorter where the dimension is no multiple): value = scale · code,
 * exactly. The elements lie in the same order for every type. */
#ifndef KV_TYPE_H
#define KV_TYPE_H

#include <stddef.h>
#include <stdint.h>

enum kv_type { KV_F16, KV_F32, KV_Q8_0, KV_TYPES };

enum { KV_TILE = 16 };          /* positions of one tile of K, and of a tile of scales */
enum { KV_BLOCK = 32 };         /* elements of one scale */

/* K and V of one layer and one KV head, n_ctx positions (a multiple of KV_TILE).
 * K lies in tiles of 16 positions, [n_ctx/16][dim_k][16], so that 16 scores lie in the lanes; V by rows, [n_ctx][dim_v].
 * Scales: [n_ctx/16][blocks of the dimension][16]; NULL where the type has none. */
struct kv_head {
	void *k, *v;
	uint16_t *k_scale, *v_scale;
};

extern const char *const kv_type_name[KV_TYPES];

/* Bytes of K (or V) of so many positions, a multiple of KV_TILE: of the elements alone, and with their scales, which come after all of them. */
size_t kv_elements(enum kv_type type, size_t dim, size_t positions);
size_t kv_bytes(enum kv_type type, size_t dim, size_t positions);

/* A head whose K and V, kv_bytes() of n_ctx positions each, begin there. */
struct kv_head kv_head_at(enum kv_type type, size_t dim_k, size_t dim_v, size_t n_ctx, void *k, void *v);

/* Blocks of a dimension; where a position's scale of block b lies. */
size_t kv_blocks(size_t dim);
size_t kv_scale_index(size_t dim, size_t pos, size_t b);

/* The scale of a block from its largest magnitude, which is INFINITY where one of them is not finite: most / 127 rounded to half precision; NaN
 * where that is no finite number, so that all values of the block are NaN. */
uint16_t kv_scale(float most);

#endif
