/* peak_loops: the loops of struct peaks. table.c exports them as PEAKS. */
#ifndef PEAK_LOOPS_H
#define PEAK_LOOPS_H

#include "fwd/kernels/peaks.h"
#include "vocabulary.h"

/* PEAK_COLUMNS is large enough to hide the latency of the products and small enough for the sums to stay in
 * registers. This reaches the speed of a loop of products alone (AVX-512: 378 of 378 G/s; with twice as many
 * columns 289, because sums are moved about). */
enum { PEAK_QUADS = 4, PEAK_SUMS = FLOAT_COLUMNS * TILE_VECTORS, PEAK_UNROLL = 4 };
enum { PEAK_STEP = PEAK_QUADS * KERNELS_ROWS * 4, PEAK_STEPS = PEAK_BYTES / PEAK_STEP };

/* Depends on all lanes, or the compiler would leave out work (AVX2: half of it). */
INLINE uint32_t all_lanes(i32x16 v)
{
	int32_t lanes[16];
	uint32_t sum = 0;

	vi_store(lanes, v);
	for (int i = 0; i < 16; i++)
		sum += (uint32_t)lanes[i];
	return sum;
}

static uint32_t peak_codes(const void *data, size_t rounds)
{
	const struct tile_shape shape = { .columns = PEAK_COLUMNS, .width = PEAK_COLUMNS, .planes = 1, .scales = 1,
		.minima = 1, .run = PEAK_QUADS };
	i32x16 s[PEAK_COLUMNS][TILE_VECTORS], all = vi_zero();

	UNROLL
	for (int c = 0; c < PEAK_COLUMNS; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			s[c][v] = vi_zero();
	for (size_t i = 0; i < rounds; i++) {
		const uint8_t *at = (const uint8_t *)data + i % PEAK_STEPS * PEAK_STEP;

		tile_dot(shape, s, at, (const int32_t *)at, PEAK_QUADS, NULL);
	}
	UNROLL
	for (int c = 0; c < PEAK_COLUMNS; c++)
		UNROLL
		for (int v = 0; v < TILE_VECTORS; v++)
			all = vi_add(all, s[c][v]);
	return all_lanes(all);
}

static uint32_t peak_floats(float a, float b, size_t rounds)
{
	f32x16 s[PEAK_SUMS], va = vf_set1(a), vb = vf_set1(b), all = vf_zero();
	float first[PEAK_SUMS * 16];

	/* No two are equal, or the compiler would keep only one. */
	for (int i = 0; i < PEAK_SUMS * 16; i++)
		first[i] = a + (float)i;
	UNROLL
	for (int i = 0; i < PEAK_SUMS; i++)
		s[i] = vf_load(first + 16 * i);
	for (size_t n = 0; n < rounds; n++) {
		UNROLL
		for (int u = 0; u < PEAK_UNROLL; u++)
			UNROLL
			for (int i = 0; i < PEAK_SUMS; i++)
				s[i] = vf_fma(s[i], va, vb);
	}
	UNROLL
	for (int i = 0; i < PEAK_SUMS; i++)
		all = vf_add(all, s[i]);
	return (uint32_t)(vf_tree(all) > 1);
}

static uint32_t peak_read(const void *p, size_t bytes, size_t far, size_t near)
{
	const char *at = p;
	i32x16 s[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		s[i] = vi_zero();
	for (const char *end = at + bytes; at < end; at += 256) {
		UNROLL
		for (int i = 0; i < 4; i++) {
			__builtin_prefetch(at + far + 64 * i, 0, 2);
			__builtin_prefetch(at + near + 64 * i, 0, 3);
			s[i] = vi_add(s[i], vi_load((const int32_t *)(at + 64 * i)));
		}
	}
	return all_lanes(vi_add(vi_add(s[0], s[1]), vi_add(s[2], s[3])));
}

#define PEAKS { \
	.codes_each = (size_t)PEAK_COLUMNS * TILE_VECTORS * 16 * 4 * PEAK_QUADS, \
	.floats_each = (size_t)PEAK_UNROLL * PEAK_SUMS * 16, \
	.codes = peak_codes, .floats = peak_floats, .read = peak_read, \
}

#endif
