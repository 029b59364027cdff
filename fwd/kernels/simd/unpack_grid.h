/* unpack_grid: the unpackers (unpack.h) of types whose codes are rows of a codebook (lib/gguf/grids.h), with signs.
 * lib/gguf/blocks.c says where the bits lie. Indices, signs and scales are put together in general registers. */
#ifndef UNPACK_GRID_H
#define UNPACK_GRID_H

#include "lib/gguf/grids.h"

/* Eight rows of eight codes. */
INLINE b64 grid_rows(const uint64_t row[8])
{
	return vb_of(vb_two(row[0], row[1]), vb_two(row[2], row[3]), vb_two(row[4], row[5]), vb_two(row[6], row[7]));
}

/* The same with signs, one bit a code, and with the type's offset added. */
INLINE b64 signed_rows(const uint64_t row[8], uint64_t signs, int offset)
{
	return vb_add(vb_negate(grid_rows(row), signs), offset);
}

/* Completes the seven signs in each byte to an even number of them. */
INLINE uint64_t even_signs(uint64_t seven)
{
	uint64_t odd = seven ^ (seven >> 4 & 0x0f0f0f0f0f0f0f0f);

	odd ^= odd >> 2;
	odd ^= odd >> 1;
	return seven | (odd & 0x0101010101010101) << 7;
}

/* The signs of two blocks: four times seven bits of a, then of b. */
INLINE uint64_t signs_of_blocks(uint32_t a, uint32_t b)
{
	uint64_t u = a | (uint64_t)b << 32;

	return even_signs((u & 0x0000007f0000007f) | (u & 0x00003f8000003f80) << 1 | (u & 0x001fc000001fc000) << 2 |
	                  (u & 0x0fe000000fe00000) << 3);
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
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = grid_iq2_xxs[b->run[run + i / 4].qs[i % 4]];
	return signed_rows(row, signs_of_blocks(load32(b->run[run].signs), load32(b->run[run + 1].signs)),
	                   OFFSET_iq2_xxs);
}

INLINE void scales_iq2_xxs(const uint8_t *span, struct scales *s)
{
	const struct iq2_xxs *b = (const struct iq2_xxs *)span;
	size_t step = sizeof b->run[0];

	s->scale[0] = odd_scales(b[0].d, b[1].d, top_nibbles(b[0].run[0].signs, step),
	                         top_nibbles(b[1].run[0].signs, step), 0.125f);
}

/* The upper seven bits of eight uint16 at p, as bytes. */
INLINE uint64_t upper_sevens(const uint8_t *p)
{
	const uint64_t seven = 0x007f007f007f007f, two = 0x0000ffff0000ffff;
	uint64_t a = load64(p) >> 9 & seven, b = load64(p + 8) >> 9 & seven;

	a = (a | a >> 8) & two;
	b = (b | b >> 8) & two;
	return ((a | a >> 16) & 0xffffffff) | (b | b >> 16) << 32;
}

INLINE b64 codes_iq2_xs(const uint8_t *span, int pair)
{
	const struct iq2_xs *b = (const struct iq2_xs *)span + pair / 4;
	const uint8_t *qs = b->qs[pair % 4 * 8];
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = grid_iq2_xs[load16(qs + 2 * i) & 511];
	return signed_rows(row, even_signs(upper_sevens(qs)), OFFSET_iq2_xs);
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
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = grid_iq2_s[qs[i] | (high << 8 >> 2 * i & 0x300)];
	return signed_rows(row, load64(b->signs + pair % 4 * 8), OFFSET_iq2_s);
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
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = grid_iq3_xxs[qs[2 * i]] | (uint64_t)grid_iq3_xxs[qs[2 * i + 1]] << 32;
	return signed_rows(row, signs_of_blocks(load32(signs), load32(signs + 4)), OFFSET_iq3_xxs);
}

INLINE void scales_iq3_xxs(const uint8_t *span, struct scales *s)
{
	const struct iq3_xxs *b = (const struct iq3_xxs *)span;

	s->scale[0] = odd_scales(b[0].d, b[1].d, top_nibbles(b[0].signs[0], 4), top_nibbles(b[1].signs[0], 4), 0.25f);
}

INLINE b64 codes_iq3_s(const uint8_t *span, int pair)
{
	const struct iq3_s *b = (const struct iq3_s *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 16;
	uint32_t high = load16(b->qh + pair % 4 * 2);
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = grid_iq3_s[qs[2 * i] | (high << 8 >> 2 * i & 256)] |
		         (uint64_t)grid_iq3_s[qs[2 * i + 1] | (high << 7 >> 2 * i & 256)] << 32;
	return signed_rows(row, load64(b->signs + pair % 4 * 8), OFFSET_iq3_s);
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

/* A row and plus or, if minus, minus an eighth. The rows' bias is the offset. */
INLINE uint64_t ternary_row(uint32_t at, uint32_t minus)
{
	const uint64_t one = 0x0101010101010101;

	return grid_iq1[at] + one - (minus ? 2 * one : 0);
}

_Static_assert((int)GRID_IQ1_BIAS == (int)OFFSET_iq1_s && (int)GRID_IQ1_BIAS == (int)OFFSET_iq1_m, "codes have it");

INLINE b64 codes_iq1_s(const uint8_t *span, int pair)
{
	const struct iq1_s *b = (const struct iq1_s *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 8;
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++) {
		uint32_t u = load16(b->qh[pair % 4 * 2 + i / 4]);

		row[i] = ternary_row(qs[i] | (u << 8 >> i % 4 * 3 & 0x700), u & 0x8000);
	}
	return grid_rows(row);
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

INLINE b64 codes_iq1_m(const uint8_t *span, int pair)
{
	const struct iq1_m *b = (const struct iq1_m *)span + pair / 4;
	const uint8_t *qs = b->qs + pair % 4 * 8;
	uint32_t high = load32(b->qh + pair % 4 * 4);
	uint64_t row[8];

	UNROLL
	for (int i = 0; i < 8; i++)
		row[i] = ternary_row(qs[i] | (high >> 4 * i & 7) << 8, high >> 4 * i & 8);
	return grid_rows(row);
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
