/* The sizes of each type, and the rule of q8_0's scale. */
#include "kv_type.h"

#include "lib/base/half.h"

const char *const kv_type_name[KV_TYPES] = { [KV_F16] = "f16", [KV_F32] = "f32", [KV_Q8_0] = "q8_0" };

static const size_t element[KV_TYPES] = { [KV_F16] = sizeof(uint16_t), [KV_F32] = sizeof(float), [KV_Q8_0] = sizeof(int8_t) };

size_t kv_blocks(size_t dim)
{
	return (dim + KV_BLOCK - 1) / KV_BLOCK;
}

size_t kv_scale_index(size_t dim, size_t pos, size_t b)
{
	return (pos / KV_TILE * kv_blocks(dim) + b) * KV_TILE + pos % KV_TILE;
}

size_t kv_elements(enum kv_type type, size_t dim, size_t positions)
{
	return positions * dim * element[type];
}

size_t kv_bytes(enum kv_type type, size_t dim, size_t positions)
{
	return kv_elements(type, dim, positions) + (type == KV_Q8_0 ? positions * kv_blocks(dim) * sizeof(uint16_t) : 0);
}

struct kv_head kv_head_at(enum kv_type type, size_t dim_k, size_t dim_v, size_t n_ctx, void *k, void *v)
{
	struct kv_head head = { .k = k, .v = v };

	if (type == KV_Q8_0) {
		head.k_scale = (uint16_t *)((char *)k + kv_elements(type, dim_k, n_ctx));
		head.v_scale = (uint16_t *)((char *)v + kv_elements(type, dim_v, n_ctx));
	}
	return head;
}

uint16_t kv_scale(float most)
{
	uint16_t half = f32_to_f16(most / 127);

	return half < 0x7c00 ? half : 0x7e00;
}
