/* unpack_grid: the unpackers (unpack.h) of types whose codes are rows of a codebook (lib/gguf/grids.h), with signs.
 * lib/gguf/blocks.c says where the bits lie. Indices of more than eight bits, and signs, are put together for a whole
 * span first (struct grid_rows). */
#ifndef UNPACK_GRID_H
#define UNPACK_GRID_H

#include "lib/gguf/grids.h"

/* Seven bits in each byte; the eighth becomes their parity. */
INLINE b64 even_signs(b64 v)
{
	static const int8_t odd[16] = { 0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0 };

	return vb_plus(vb_plus(v, vb_lookup(odd, vb_low(v))), vb_lookup(odd, vb_shr(v, 4, 15)));
}

/* The signs of a span from sixteen words, four times seven bits in each. */
INLINE void read_signs(i32x16 words, struct grid_rows *rows)
{
	i32x16 v = vi_or(vi_and(words, vi_set1(0x3fff)), vi_and(vi_shl(words, 2), vi_set1(0x3fff0000)));

	v = vi_or(vi_and(v, vi_set1(0x007f007f)), vi_and(vi_shl(v, 1), vi_set1(0x7f007f00)));
	vb_store(rows->signs, even_signs(vi_as_bytes(v)));
}

/* The indices of 256 codes: sixteen bytes at low and, for their upper bits, as many bytes at high as `step` says. */
INLINE void read_indices(const struct upper_bits *u, int sixteens, const uint8_t *low, const uint8_t *high, size_t step,
                         uint16_t *at)
{
	UNROLL
	for (int i = 0; i < sixteens; i++)
		vi_indices(at + 16 * i, low + 16 * i, high + step * (size_t)i, u);
}

/* Entry i of the array of bits-wide numbers that is packed into the eight bytes at p. All entries come from one load,
 * because loading the rows already takes many. */
INLINE size_t number_at(const void *p, int i, int bits)
{
	uint64_t all = load64(p);

	OPAQUE(all);    /* otherwise the compiler loads each of them */
	return all >> bits * i & ((1u << bits) - 1);
}

INLINE size_t row_of_index(const uint8_t *span, const struct grid_rows *rows, int i)
{
	return number_at(rows->at + i / 4 * 4, i % 4, 16);
}

/* For tables of struct upper_bits. */
#define PAIR(i) { i, i + 1 }
#define TWICE(x) x, x
#define THRICE(x) x, x, x
#define FOUR(x) x, x, x, x
#define FOURS(a, b, c, d) a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d

/* d · (2s + 1) · unit for 2s or, if bit 0 is anything, 2s + 1, in lane order. */
INLINE f32x16 odd_scales(const void *d0, const void *d1, i32x16 twice, float unit)
{
	return vf_mul(vf_mul(vf_two_f16s(d0, d1), vf_set1(unit)), vi_to_float(vi_or(twice, vi_set1(1))));
}

/* The same for two a block: low nibbles are for the first halves, high ones for the second. General registers put
 * them together, because vector units have more to do. */
INLINE void odd_nibble_scales(const uint8_t *d0, const uint8_t *d1, const uint8_t *s0, const uint8_t *s1, float unit,
                              struct scales *s)
{
	const uint64_t low = 0x0f0f0f0f0f0f0f0f, one = 0x0101010101010101;
	f32x16 d = vf_mul(vf_two_f16s(d0, d1), vf_set1(unit));
	uint64_t a = load64(s0), b = load64(s1);

	byte_pairs(vb_zip((a & low) * 2 | one, (a >> 4 & low) * 2 | one),
	           vb_zip((b & low) * 2 | one, (b >> 4 & low) * 2 | one), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(d, s->scale[i]);
}

INLINE void rows_iq2_xxs(const uint8_t *span, struct grid_rows *rows)
{
	const struct iq2_xxs *b = (const struct iq2_xxs *)span;

	read_signs(vi_words(b[0].run[0].signs, b[1].run[0].signs, sizeof b->run[0]), rows);
}

INLINE size_t row_iq2_xxs(const uint8_t *span, const struct grid_rows *rows, int i)
{
	const struct iq2_xxs *b = (const struct iq2_xxs *)span + i / 32;

	return number_at(&b->run[i % 32 / 4], i % 4, 8);
}

INLINE void scales_iq2_xxs(const uint8_t *span, struct scales *s)
{
	const struct iq2_xxs *b = (const struct iq2_xxs *)span;
	i32x16 words = vi_lanes(vi_words(b[0].run[0].signs, b[1].run[0].signs, sizeof b->run[0]));

	s->scale[0] = odd_scales(b[0].d, b[1].d, vi_shr(words, 27), 0.125f);
}

INLINE void rows_iq2_xs(const uint8_t *span, struct grid_rows *rows)
{
	const struct iq2_xs *b = (const struct iq2_xs *)span;

	UNROLL
	for (int i = 0; i < 2; i++)
		vb_store(rows->at + 32 * i, vi_as_bytes(vi_and(vb_as_int(vb_load(b[i].qs)), vi_set1(0x01ff01ff))));
	vb_store(rows->signs, even_signs(vb_uppers(b[0].qs, b[1].qs)));
}

INLINE void scales_iq2_xs(const uint8_t *span, struct scales *s)
{
	const struct iq2_xs *b = (const struct iq2_xs *)span;

	odd_nibble_scales(b[0].d, b[1].d, b[0].scales, b[1].scales, 0.125f, s);
}

static const struct upper_bits upper_iq2_s = {
	{ FOUR(PAIR(0)), FOUR(PAIR(1)), FOUR(PAIR(2)), FOUR(PAIR(3)) },
	{ FOURS(256, 64, 16, 4) }, 0x300
};

INLINE void rows_iq2_s(const uint8_t *span, struct grid_rows *rows)
{
	const struct iq2_s *b = (const struct iq2_s *)span;

	UNROLL
	for (int i = 0; i < 2; i++)
		read_indices(&upper_iq2_s, 2, b[i].qs, b[i].qh, 4, rows->at + 32 * i);
	vb_store(rows->signs, vb_join(b[0].signs, b[1].signs));
}

INLINE void scales_iq2_s(const uint8_t *span, struct scales *s)
{
	const struct iq2_s *b = (const struct iq2_s *)span;

	odd_nibble_scales(b[0].d, b[1].d, b[0].scales, b[1].scales, 0.125f, s);
}

INLINE void rows_iq3_xxs(const uint8_t *span, struct grid_rows *rows)
{
	const struct iq3_xxs *b = (const struct iq3_xxs *)span;

	read_signs(vi_words(b[0].signs[0], b[1].signs[0], 4), rows);
}

INLINE size_t row_iq3_xxs(const uint8_t *span, const struct grid_rows *rows, int i)
{
	const struct iq3_xxs *b = (const struct iq3_xxs *)span + i / 64;

	return number_at(b->qs + i % 64 / 8 * 8, i % 8, 8);
}

INLINE void scales_iq3_xxs(const uint8_t *span, struct scales *s)
{
	const struct iq3_xxs *b = (const struct iq3_xxs *)span;
	i32x16 words = vi_lanes(vi_words(b[0].signs[0], b[1].signs[0], 4));

	s->scale[0] = odd_scales(b[0].d, b[1].d, vi_shr(words, 27), 0.25f);
}

static const struct upper_bits upper_iq3_s = {
	{ FOUR(PAIR(0)), FOUR(PAIR(0)), FOUR(PAIR(1)), FOUR(PAIR(1)) },
	{ 256, 128, 64, 32, 16, 8, 4, 2, 256, 128, 64, 32, 16, 8, 4, 2 }, 0x100
};

INLINE void rows_iq3_s(const uint8_t *span, struct grid_rows *rows)
{
	const struct iq3_s *b = (const struct iq3_s *)span;

	UNROLL
	for (int i = 0; i < 2; i++)
		read_indices(&upper_iq3_s, 4, b[i].qs, b[i].qh, 2, rows->at + 64 * i);
	vb_store(rows->signs, vb_join(b[0].signs, b[1].signs));
}

/* Nibbles in lane order: the low ones are for even blocks, the high ones for odd blocks. */
INLINE uint64_t lane_nibbles(const uint8_t *p)
{
	uint32_t u = load32(p);

	return (u & 0x0f0f0f0f) | (uint64_t)(u >> 4 & 0x0f0f0f0f) << 32;
}

INLINE void scales_iq3_s(const uint8_t *span, struct scales *s)
{
	const struct iq3_s *b = (const struct iq3_s *)span;
	i32x16 scales = vi_bytes(vb_two(lane_nibbles(b[0].scales), lane_nibbles(b[1].scales)));

	s->scale[0] = odd_scales(b[0].d, b[1].d, vi_shl(scales, 1), 1);
}

_Static_assert((int)GRID_IQ1_BIAS == (int)OFFSET_iq1_s && (int)GRID_IQ1_BIAS == (int)OFFSET_iq1_m, "codes have it");

static const struct upper_bits upper_iq1_s = {
	{ THRICE(PAIR(0)), PAIR(1), THRICE(PAIR(2)), PAIR(3), THRICE(PAIR(4)), PAIR(5), THRICE(PAIR(6)), PAIR(7) },
	{ FOURS(256, 32, 4, 128) }, 0x700
};

INLINE void rows_iq1_s(const uint8_t *span, struct grid_rows *rows)
{
	const struct iq1_s *b = (const struct iq1_s *)span;
	i32x16 minus = vi_sub(vi_zero(), vi_shr(vi_u16s(vb_16(b[0].qh), vb_16(b[1].qh)), 15));

	UNROLL
	for (int i = 0; i < 2; i++)
		read_indices(&upper_iq1_s, 2, b[i].qs, b[i].qh[0], 8, rows->at + 32 * i);
	vb_store(rows->signs, vi_as_bytes(vi_or(minus, vi_set1(0x01010101))));
}

INLINE void scales_iq1_s(const uint8_t *span, struct scales *s)
{
	const struct iq1_s *b = (const struct iq1_s *)span;
	i32x16 words = vi_lanes(vi_u16s(vb_16(b[0].qh), vb_16(b[1].qh)));

	s->scale[0] = odd_scales(b[0].d, b[1].d, vi_and(vi_shr(words, 11), vi_set1(14)), 0.125f);
}

static const struct upper_bits upper_iq1_m = {
	{ TWICE(PAIR(0)), TWICE(PAIR(1)), TWICE(PAIR(2)), TWICE(PAIR(3)), TWICE(PAIR(4)), TWICE(PAIR(5)),
	  TWICE(PAIR(6)), TWICE(PAIR(7)) },
	{ FOURS(256, 16, 256, 16) }, 0x700
};

INLINE void rows_iq1_m(const uint8_t *span, struct grid_rows *rows)
{
	static const int8_t eighth[16] = { 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1 };
	const struct iq1_m *b = (const struct iq1_m *)span;
	i32x16 v = vb_as_int(vb_widened(b[0].qh, b[1].qh));

	UNROLL
	for (int i = 0; i < 2; i++)
		read_indices(&upper_iq1_m, 2, b[i].qs, b[i].qh, 8, rows->at + 32 * i);
	v = vi_or(vi_and(v, vi_set1(0x000f000f)), vi_and(vi_shl(v, 4), vi_set1(0x0f000f00)));
	vb_store(rows->signs, vb_lookup(eighth, vi_as_bytes(v)));
}

/* The scale of a super-block lies in the top nibbles of the four words. */
INLINE uint16_t f16_iq1_m(const struct iq1_m *b)
{
	uint64_t u = load64(b->scales[0]) >> 12 & 0x000f000f000f000f;

	return (uint16_t)(u | u >> 12 | u >> 24 | u >> 36);
}

/* A word has the scales of an even block and the next: three bits for each half. In lane order the words are those of
 * the even blocks, then those of the odd ones. */
INLINE void scales_iq1_m(const uint8_t *span, struct scales *s)
{
	const struct iq1_m *b = (const struct iq1_m *)span;
	uint16_t d0 = f16_iq1_m(&b[0]), d1 = f16_iq1_m(&b[1]);
	uint64_t s0 = load64(b[0].scales), s1 = load64(b[1].scales);
	i32x16 v = vi_u16s(vb_two(s0, s0 >> 6), vb_two(s1, s1 >> 6));

	s->scale[0] = odd_scales(&d0, &d1, vi_and(vi_shl(v, 1), vi_set1(14)), 0.125f);
	s->scale[1] = odd_scales(&d0, &d1, vi_and(vi_shr(v, 2), vi_set1(14)), 0.125f);
}

#undef PAIR
#undef TWICE
#undef THRICE
#undef FOUR
#undef FOURS

#endif
