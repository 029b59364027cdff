/* Where each type has its elements, and the rules for scales. */
#include "kv_type.h"

#include <string.h>

#include "lib/base/half.h"

const char *const kv_type_name[KV_TYPES] = { [KV_F16] = "f16", [KV_F32] = "f32", [KV_Q8_0] = "q8_0",
	[KV_Q4_0] = "q4_0" };

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

/* Elements of K, and of V, that are stored for a position. */
static size_t stored_k(enum kv_type type, size_t dim_k)
{
	size_t whole = type == KV_Q4_0 ? KV_SCALED : type == KV_Q8_0 ? KV_FOUR : 1;

	return (dim_k + whole - 1) / whole * whole;
}

static size_t stored_v(enum kv_type type, size_t dim_v)
{
	return type == KV_Q4_0 ? stored_k(type, dim_v) : dim_v;
}

/* Element i of sixteen fours, in the low bits or the high ones of 64 bytes. */
static size_t nibble(size_t i, size_t high)
{
	return i * 2 + high;
}

size_t kv_k_index(enum kv_type type, size_t dim_k, size_t pos, size_t d)
{
	size_t run = type == KV_Q8_0 ? KV_FOUR : 1;     /* elements of a position that lie side by side */
	size_t in_half = d % (KV_SCALED / 2);

	if (type == KV_Q4_0)
		return pos / KV_TILE * stored_k(type, dim_k) * KV_TILE + d / KV_SCALED * KV_SCALED * KV_TILE
			+ nibble((in_half / KV_FOUR * KV_TILE + pos % KV_TILE) * KV_FOUR + in_half % KV_FOUR,
			d % KV_SCALED / (KV_SCALED / 2));
	return pos / KV_TILE * stored_k(type, dim_k) * KV_TILE + (d / run * KV_TILE + pos % KV_TILE) * run + d % run;
}

size_t kv_v_index(enum kv_type type, size_t dim_v, size_t pos, size_t d)
{
	size_t group = d / KV_SCALED * KV_SCALED, n = dim_v - group < KV_SCALED ? dim_v - group : KV_SCALED;

	if (type == KV_Q4_0)
		return group * KV_EXTENT + nibble((pos / KV_FOUR * (KV_SCALED / 2) + d % (KV_SCALED / 2)) * KV_FOUR
			+ pos % KV_FOUR, d % KV_SCALED / (KV_SCALED / 2));
	if (type != KV_Q8_0)
		return pos * dim_v + d;
	return group * KV_EXTENT + (pos / KV_FOUR * n + d - group) * KV_FOUR + pos % KV_FOUR;
}

/* Bytes of the elements of K or V, and of their scales. */
static size_t elements(enum kv_type type, size_t dim)
{
	return type == KV_Q4_0 ? KV_EXTENT * dim / 2 : KV_EXTENT * dim * element[type];
}

static size_t scales(enum kv_type type, size_t dim)
{
	return kv_coded(type) ? KV_EXTENT * kv_scales(dim) * sizeof(uint16_t) : 0;
}

size_t kv_block_bytes(enum kv_type type, size_t dim_k, size_t dim_v)
{
	return elements(type, stored_k(type, dim_k)) + scales(type, dim_k) + elements(type, stored_v(type, dim_v))
		+ scales(type, dim_v);
}

struct kv_block kv_block_at(enum kv_type type, size_t dim_k, size_t dim_v, void *at)
{
	unsigned char *k = at, *k_scale = k + elements(type, stored_k(type, dim_k)), *v = k_scale + scales(type, dim_k);

	return (struct kv_block){
		.k = k, .k_scale = (uint16_t *)(void *)k_scale, .v = v,
			.v_scale = (uint16_t *)(void *)(v + elements(type, stored_v(type, dim_v)))
	};
}

/* Zeroes the lanes of positions from `from` on in tiles [8][rows][16] of elements of `bytes` bytes. */
static void clear_tiles(void *at, size_t rows, size_t bytes, size_t from)
{
	for (size_t tile = from / KV_TILE; tile < KV_EXTENT / KV_TILE; tile++) {
		size_t lane = tile == from / KV_TILE ? from % KV_TILE : 0;

		for (size_t row = tile * rows; row < (tile + 1) * rows; row++)
			memset((char *)at + (row * KV_TILE + lane) * bytes, 0, (KV_TILE - lane) * bytes);
	}
}

/* The same for V in codes. */
static void clear_values(enum kv_type type, unsigned char *v, size_t dim_v, size_t from)
{
	for (size_t pos = from; pos < KV_EXTENT; pos++)
		for (size_t d = 0; d < dim_v; d++)
			v[kv_v_index(type, dim_v, pos, d) / (type == KV_Q4_0 ? 2 : 1)] = 0;
}

/* Four bytes lie side by side: rows of such fours in a tile of K. */
static size_t fours(enum kv_type type, size_t dim_k)
{
	return stored_k(type, dim_k) / KV_FOUR / (type == KV_Q4_0 ? 2 : 1);
}

void kv_block_clear(enum kv_type type, size_t dim_k, size_t dim_v, void *at, size_t from)
{
	struct kv_block b = kv_block_at(type, dim_k, dim_v, at);
	size_t row = dim_v * element[type];

	if (kv_coded(type)) {
		clear_tiles(b.k, fours(type, dim_k), KV_FOUR, from);
		clear_tiles(b.k_scale, kv_scales(dim_k), sizeof *b.k_scale, from);
		clear_values(type, b.v, dim_v, from);
		clear_tiles(b.v_scale, kv_scales(dim_v), sizeof *b.v_scale, from);
		return;
	}
	clear_tiles(b.k, dim_k, element[type], from);
	memset((char *)b.v + from * row, 0, (KV_EXTENT - from) * row);
}

/* Where a position's first element lies, of n in tiles. */
static size_t lane(size_t pos, size_t n)
{
	return pos / KV_TILE * n * KV_TILE + pos % KV_TILE;
}

/* Copies the n elements of position j in tiles to position i of others. Inline, so that `bytes` is a constant and each
 * copy one move. */
static inline void copy_lane(void *to, size_t i, const void *from, size_t j, size_t n, size_t bytes)
{
	char *p = (char *)to + lane(i, n) * bytes;
	const char *q = (const char *)from + lane(j, n) * bytes;

	for (size_t row = 0; row < n * KV_TILE * bytes; row += KV_TILE * bytes)
		memcpy(p + row, q + row, bytes);
}

static void copy_codes(enum kv_type type, size_t dim_k, size_t dim_v, const struct kv_block *from, size_t j,
	const struct kv_block *to, size_t i)
{
	size_t in_byte = type == KV_Q4_0 ? 2 : 1;

	copy_lane(to->k, i, from->k, j, fours(type, dim_k), KV_FOUR);
	copy_lane(to->k_scale, i, from->k_scale, j, kv_scales(dim_k), sizeof(uint16_t));
	copy_lane(to->v_scale, i, from->v_scale, j, kv_scales(dim_v), sizeof(uint16_t));
	for (size_t d = 0; d < stored_v(type, dim_v); d++)
		((int8_t *)to->v)[kv_v_index(type, dim_v, i, d) / in_byte]
			= ((const int8_t *)from->v)[kv_v_index(type, dim_v, j, d) / in_byte];
}

void kv_copy(enum kv_type type, size_t dim_k, size_t dim_v, const struct kv_block *from, size_t j,
	const struct kv_block *to, size_t i)
{
	size_t v = dim_v * element[type];

	if (kv_coded(type)) {
		copy_codes(type, dim_k, dim_v, from, j, to, i);
		return;
	}
	if (type == KV_F32)
		copy_lane(to->k, i, from->k, j, dim_k, sizeof(float));
	else
		copy_lane(to->k, i, from->k, j, dim_k, sizeof(uint16_t));
	memcpy((char *)to->v + i * v, (const char *)from->v + j * v, v);
}

uint16_t kv_scale(float most)
{
	return f32_to_f16(most / 127);
}

/* With -1/8, m is exact. The best of these has 0.9 of the squared error of -1/8 (normally distributed elements). */
const float kv_steps[KV_STEPS] = {
	-1.0f / 8, -0.97f / 8, -0.94f / 8, -0.91f / 8, -0.88f / 8, -1.03f / 8, -1.06f / 8, -1.09f / 8
};

size_t kv_rotated(size_t dim)
{
	return dim & (~dim + 1);
}
