/* The sizes of each type, and the rule for q8_0's scales. */
#include "kv_type.h"

#include <string.h>

#include "lib/base/half.h"

const char *const kv_type_name[KV_TYPES] = { [KV_F16] = "f16", [KV_F32] = "f32", [KV_Q8_0] = "q8_0" };

static const size_t element[KV_TYPES] = {
	[KV_F16] = sizeof(uint16_t), [KV_F32] = sizeof(float), [KV_Q8_0] = sizeof(int8_t)
};

size_t kv_scales(size_t dim)
{
	return (dim + KV_SCALED - 1) / KV_SCALED;
}

size_t kv_scale_index(size_t dim, size_t pos, size_t i)
{
	return (pos / KV_TILE * kv_scales(dim) + i) * KV_TILE + pos % KV_TILE;
}

/* Bytes of the elements of K or V, and of their scales. */
static size_t elements(enum kv_type type, size_t dim)
{
	return KV_EXTENT * dim * element[type];
}

static size_t scales(enum kv_type type, size_t dim)
{
	return type == KV_Q8_0 ? KV_EXTENT * kv_scales(dim) * sizeof(uint16_t) : 0;
}

size_t kv_block_bytes(enum kv_type type, size_t dim_k, size_t dim_v)
{
	return elements(type, dim_k) + scales(type, dim_k) + elements(type, dim_v) + scales(type, dim_v);
}

struct kv_block kv_block_at(enum kv_type type, size_t dim_k, size_t dim_v, void *at)
{
	unsigned char *k = at, *k_scale = k + elements(type, dim_k), *v = k_scale + scales(type, dim_k);

	return (struct kv_block){
		.k = k, .k_scale = (uint16_t *)(void *)k_scale, .v = v,
			.v_scale = (uint16_t *)(void *)(v + elements(type, dim_v))
	};
}

/* The same of [8][rows][16] elements of `bytes` bytes. */
static void clear_tiles(void *at, size_t rows, size_t bytes, size_t from)
{
	for (size_t tile = from / KV_TILE; tile < KV_EXTENT / KV_TILE; tile++) {
		size_t lane = tile == from / KV_TILE ? from % KV_TILE : 0;

		for (size_t row = tile * rows; row < (tile + 1) * rows; row++)
			memset((char *)at + (row * KV_TILE + lane) * bytes, 0, (KV_TILE - lane) * bytes);
	}
}

void kv_block_clear(enum kv_type type, size_t dim_k, size_t dim_v, void *at, size_t from)
{
	struct kv_block b = kv_block_at(type, dim_k, dim_v, at);
	size_t row = dim_v * element[type];

	clear_tiles(b.k, dim_k, element[type], from);
	memset((char *)b.v + from * row, 0, (KV_EXTENT - from) * row);
	if (type == KV_Q8_0) {
		clear_tiles(b.k_scale, kv_scales(dim_k), sizeof *b.k_scale, from);
		clear_tiles(b.v_scale, kv_scales(dim_v), sizeof *b.v_scale, from);
	}
}

/* Copy one lane of n rows of tiles to another; both pointers are in the first row, at their lane. */
static void copy_bytes(uint8_t *to, const uint8_t *from, size_t n)
{
	for (size_t row = 0; row < n * KV_TILE; row += KV_TILE)
		to[row] = from[row];
}

static void copy_halves(uint16_t *to, const uint16_t *from, size_t n)
{
	for (size_t row = 0; row < n * KV_TILE; row += KV_TILE)
		to[row] = from[row];
}

static void copy_floats(float *to, const float *from, size_t n)
{
	for (size_t row = 0; row < n * KV_TILE; row += KV_TILE)
		to[row] = from[row];
}

/* Where a position's first element lies, of n in tiles. */
static size_t lane(size_t pos, size_t n)
{
	return pos / KV_TILE * n * KV_TILE + pos % KV_TILE;
}

void kv_copy(enum kv_type type, size_t dim_k, size_t dim_v, const struct kv_block *from, size_t j,
	const struct kv_block *to, size_t i)
{
	size_t row = dim_v * element[type], v_scales = kv_scales(dim_v);

	size_t n = kv_scales(dim_k), at = lane(i, dim_k), of = lane(j, dim_k);

	if (type == KV_F32)
		copy_floats((float *)to->k + at, (const float *)from->k + of, dim_k);
	else if (type == KV_F16)
		copy_halves((uint16_t *)to->k + at, (const uint16_t *)from->k + of, dim_k);
	else {
		copy_bytes((uint8_t *)to->k + at, (const uint8_t *)from->k + of, dim_k);
		copy_halves(to->k_scale + lane(i, n), from->k_scale + lane(j, n), n);
		copy_halves(to->v_scale + lane(i, v_scales), from->v_scale + lane(j, v_scales), v_scales);
	}
	memcpy((char *)to->v + i * row, (const char *)from->v + j * row, row);
}

uint16_t kv_scale(float most)
{
	uint16_t half = f32_to_f16(most / 127);

	return half < 0x7c00 ? half : 0x7e00;
}
