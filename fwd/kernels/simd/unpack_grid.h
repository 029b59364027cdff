/* unpack_grid: the unpackers (unpack.h) of types whose codes are rows of a codebook (lib/gguf/grids.h), with signs.
 * lib/gguf/blocks.c says where the bits lie. Most indices and scales are put together in general registers. */
#ifndef UNPACK_GRID_H
#define UNPACK_GRID_H

#include "lib/gguf/grids.h"

/* Eight rows of eight codes. */
INLINE b64 grid_rows(const uint64_t *const row[8])
{
	return vb_of(vb_eights(row[0], row[1]), vb_eights(row[2], row[3]), vb_eights(row[4], row[5]),
	             vb_eights(row[6], row[7]));
}

/* Sixteen rows of four codes. */
INLINE b64 short_rows(const uint32_t grid[], const uint32_t at[16])
{
	b16 v[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		v[i] = vb_fours(&grid[at[4 * i]], &grid[at[4 * i + 1]], &grid[at[4 * i + 2]], &grid[at[4 * i + 3]]);
	return vb_of(v[0], v[1], v[2], v[3]);
}

/* Signs, one bit a code, given to codes, and the type's offset added. */
INLINE b64 with_signs(b64 codes, b16 signs, int offset)
{
	return vb_add(vb_negate(codes, signs), offset);
}

/* d · (2s + 1) · unit for eight bytes s of each super-block, in lane order. */
INLINE f32x16 odd_scales(const uint8_t *d0, const uint8_t *d1, uint64_t s0, uint64_t s1, float unit)
{
	const uint64_t one = 0x0101010101010101;
	i32x16 odd = vi_bytes(vb_two(s0 * 2 | one, s1 * 2 | one));

	return vf_mul(vf_mul(vf_two_f16s(d0, d1), vf_set1(unit)), vi_to_float(odd));
}

/* The same for two a block: low nibbles are for the first halves, high ones for the second. */
INLINE void odd_nibble_scales(f32x16 d, const uint8_t *s0, const uint8_t *s1, float unit, struct scales *s)
{
	const uint64_t low = 0x0f0f0f0f0f0f0f0f, one = 0x0101010101010101;
	uint64_t a = load64(s0), b = load64(s1);

	byte_pairs(vb_zip((a & low) * 2 | one, (a >> 4 & low) * 2 | one),
	           vb_zip((b & low) * 2 | one, (b >> 4 & low) * 2 | one), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(vf_mul(d, vf_set1(unit)), s->scale[i]);
}

/* The top nibbles of eight uint32 `step` bytes apart, in lane order. */
INLINE uint64_t top_nibbles(const uint8_t *p, size_t step)
{
	uint64_t bytes = 0;

	UNROLL
	for (int i = 0; i < 8; i++)
		bytes |= (uint64_t)(p[step * (size_t)lane_block[i] + 3] >> 4) << 8 * i;
	return bytes;
}

INLINE b64 codes_iq2_xxs(const uint8_t *span, int pair)
{
	const struct iq2_xxs *b = (const struct iq2_xxs *)span + pair / 4;
	int run = pair % 4 * 2;
	const uint64_t *row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = &grid_iq2_xxs[b->run[run + i / 4].qs[i % 4]];
	return with_signs(grid_rows(row), vb_even_of_words(load32(b->run[run].signs), load32(b->run[run + 1].signs)),
	                  OFFSET_iq2_xxs);
}

INLINE void scales_iq2_xxs(const uint8_t *span, struct scales *s)
{
	const struct iq2_xxs *b = (const struct iq2_xxs *)span;
	size_t step = sizeof b->run[0];

	s->scale[0] = odd_scales(b[0].d, b[1].d, top_nibbles(b[0].run[0].signs, step),
	                         top_nibbles(b[1].run[0].signs, step), 0.125f);
}

INLINE b64 codes_iq2_xs(const uint8_t *span, int pair)
{
	const struct iq2_xs *b = (const struct iq2_xs *)span + pair / 4;
	const uint8_t *qs = b->qs[pair % 4 * 8];
	const uint64_t *row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = &grid_iq2_xs[load16(qs + 2 * i) & 511];
	return with_signs(grid_rows(row), vb_even_of_uppers(qs), OFFSET_iq2_xs);
}

INLINE void scales_iq2_xs(const uint8_t *span, struct scales *s)
{
	const struct iq2_xs *b = (const struct iq2_xs *)span;

	odd_nibble_scales(vf_two_f16s(b[0].d, b[1].d), b[0].scales, b[1].scales, 0.125f, s);
}

INLINE b64 codes_iq2_s(const uint8_t *span, int pair)
{
	const struct iq2_s *b = (const struct iq2_s *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 8;
	uint32_t high = load16(b->qh + pair % 4 * 2);
	const uint64_t *row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = &grid_iq2_s[qs[i] | (high << 8 >> 2 * i & 0x300)];
	return with_signs(grid_rows(row), vb_two(load64(b->signs + pair % 4 * 8), 0), OFFSET_iq2_s);
}

INLINE void scales_iq2_s(const uint8_t *span, struct scales *s)
{
	const struct iq2_s *b = (const struct iq2_s *)span;

	odd_nibble_scales(vf_two_f16s(b[0].d, b[1].d), b[0].scales, b[1].scales, 0.125f, s);
}

INLINE b64 codes_iq3_xxs(const uint8_t *span, int pair)
{
	const struct iq3_xxs *b = (const struct iq3_xxs *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 16, *signs = b->signs[pair % 4 * 2];
	uint32_t at[16];

	UNROLL
	for (int i = 0; i < 16; i++)
		at[i] = qs[i];
	return with_signs(short_rows(grid_iq3_xxs, at), vb_even_of_words(load32(signs), load32(signs + 4)),
	                  OFFSET_iq3_xxs);
}

INLINE void scales_iq3_xxs(const uint8_t *span, struct scales *s)
{
	const struct iq3_xxs *b = (const struct iq3_xxs *)span;

	s->scale[0] = odd_scales(b[0].d, b[1].d, top_nibbles(b[0].signs[0], 4), top_nibbles(b[1].signs[0], 4), 0.25f);
}

INLINE b64 codes_iq3_s(const uint8_t *span, int pair)
{
	const struct iq3_s *b = (const struct iq3_s *)span + pair / 4;
	uint32_t at[16];

	vi_indices(at, vi_or(vi_bytes(vb_16(b->qs + pair % 4 * 16)), vi_bits(load16(b->qh + pair % 4 * 2), 256)));
	return with_signs(short_rows(grid_iq3_s, at), vb_two(load64(b->signs + pair % 4 * 8), 0), OFFSET_iq3_s);
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

	s->scale[0] = odd_scales(b[0].d, b[1].d, lane_nibbles(b[0].scales), lane_nibbles(b[1].scales), 1);
}

/* Rows and plus an eighth or, where the bit of a code is set, minus an eighth. The rows' bias is the offset. */
INLINE b64 ternary_rows(const uint64_t *const row[8], uint64_t minus)
{
	return vb_plus(grid_rows(row), vb_negate(vi_as_bytes(vi_set1(0x01010101)), vb_two(minus, 0)));
}

_Static_assert((int)GRID_IQ1_BIAS == (int)OFFSET_iq1_s && (int)GRID_IQ1_BIAS == (int)OFFSET_iq1_m, "codes have it");

INLINE b64 codes_iq1_s(const uint8_t *span, int pair)
{
	const struct iq1_s *b = (const struct iq1_s *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 8;
	const uint64_t *row[8];
	uint64_t minus = 0;

	UNROLL
	for (int block = 0; block < 2; block++) {
		uint32_t u = load16(b->qh[pair % 4 * 2 + block]);

		UNROLL
		for (int i = 0; i < 4; i++)
			row[4 * block + i] = &grid_iq1[qs[4 * block + i] | (u << 8 >> i * 3 & 0x700)];
		minus |= (u >> 15 ? 0xffffffff : (uint64_t)0) << 32 * block;
	}
	return ternary_rows(row, minus);
}

/* Bits 12 to 14 of eight uint16, as bytes in lane order. */
INLINE uint64_t bytes_iq1_s(const struct iq1_s *b)
{
	uint64_t u0 = load64(b->qh[0]) >> 12 & 0x0007000700070007, u4 = load64(b->qh[4]) >> 12 & 0x0007000700070007;
	uint64_t u = u0 | u4 << 8;      /* blocks 0 4 1 5 2 6 3 7 */

	return (u & 0xff) | (u >> 24 & 0xff00) | (u << 8 & 0xff0000) | (u >> 16 & 0xff000000) |
	       (u << 16 & 0xff00000000) | (u >> 8 & 0xff0000000000) | (u << 24 & 0xff000000000000) |
	       (u & 0xff00000000000000);
}

INLINE void scales_iq1_s(const uint8_t *span, struct scales *s)
{
	const struct iq1_s *b = (const struct iq1_s *)span;

	s->scale[0] = odd_scales(b[0].d, b[1].d, bytes_iq1_s(&b[0]), bytes_iq1_s(&b[1]), 0.125f);
}

/* Eight bits for each nibble of the word: all ones where its highest bit is set. */
INLINE uint64_t top_bits_spread(uint32_t nibbles)
{
	uint64_t u = nibbles >> 3 & 0x11111111;

	u = (u | u << 16) & 0x0000ffff0000ffff;
	u = (u | u << 8) & 0x00ff00ff00ff00ff;
	u = (u | u << 4) & 0x0f0f0f0f0f0f0f0f;
	return u * 255;
}

INLINE b64 codes_iq1_m(const uint8_t *span, int pair)
{
	const struct iq1_m *b = (const struct iq1_m *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 8;
	uint32_t high = load32(b->qh + pair % 4 * 4);
	const uint64_t *row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = &grid_iq1[qs[i] | (high >> 4 * i & 7) << 8];
	return ternary_rows(row, top_bits_spread(high));
}

/* The sixteen scales s as 2s + 1, in order. */
INLINE b16 bytes_iq1_m(const struct iq1_m *b)
{
	const uint64_t one = 0x0101010101010101;
	uint64_t u[2];

	UNROLL
	for (int i = 0; i < 2; i++) {
		uint64_t w = load16(b->scales[2 * i]) | (uint64_t)load16(b->scales[2 * i + 1]) << 32;

		u[i] = (w & 0x0000000700000007) | (w & 0x0000003800000038) << 5 | (w & 0x000001c0000001c0) << 10 |
		       (w & 0x00000e0000000e00) << 15;
	}
	return vb_two(u[0] * 2 | one, u[1] * 2 | one);
}

/* The scale of a super-block lies in the top nibbles of the four words. */
INLINE uint16_t f16_iq1_m(const struct iq1_m *b)
{
	uint64_t u = load64(b->scales[0]) >> 12 & 0x000f000f000f000f;

	return (uint16_t)(u | u >> 12 | u >> 24 | u >> 36);
}

INLINE void scales_iq1_m(const uint8_t *span, struct scales *s)
{
	const struct iq1_m *b = (const struct iq1_m *)span;
	uint16_t d0 = f16_iq1_m(&b[0]), d1 = f16_iq1_m(&b[1]);
	f32x16 d = vf_mul(vf_two_f16s(&d0, &d1), vf_set1(0.125f));

	byte_pairs(bytes_iq1_m(&b[0]), bytes_iq1_m(&b[1]), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(d, s->scale[i]);
}

#endif
