/* unpack_small: the unpackers (unpack.h) of types with blocks of 32, 64 and 128. */
#ifndef UNPACK_SMALL_H
#define UNPACK_SMALL_H

/* ---- blocks of 32 ---- */

INLINE b64 codes_q4_0(const uint8_t *span, int pair)
{
	const struct q4_0 *b = (const struct q4_0 *)span + 2 * pair;

	return vb_nibbles(b[0].qs, b[1].qs);
}

INLINE b64 codes_q4_1(const uint8_t *span, int pair)
{
	const struct q4_1 *b = (const struct q4_1 *)span + 2 * pair;

	return vb_nibbles(b[0].qs, b[1].qs);
}

/* Blocks of 16 bytes at qs whose low nibbles are the first half of the codes and whose high nibbles are the second. */
INLINE void quarters_of_blocks(const uint8_t *qs, size_t block, int four, b64 codes[2])
{
	b64 v = vb_four(qs + (size_t)(four / 2 * 8 + four % 2) * block, 2 * block);

	codes[0] = vb_low(v);
	codes[1] = vb_shr(v, 4, 15);
}

INLINE void quarters_q4_0(const uint8_t *span, int four, b64 codes[2])
{
	quarters_of_blocks(((const struct q4_0 *)span)->qs, sizeof(struct q4_0), four, codes);
}

INLINE void quarters_q4_1(const uint8_t *span, int four, b64 codes[2])
{
	quarters_of_blocks(((const struct q4_1 *)span)->qs, sizeof(struct q4_1), four, codes);
}

INLINE b64 codes_q5_0(const uint8_t *span, int pair)
{
	const struct q5_0 *b = (const struct q5_0 *)span + 2 * pair;

	return vb_or(vb_nibbles(b[0].qs, b[1].qs), vb_bits(b[0].qh, b[1].qh, 16));
}

INLINE b64 codes_q5_1(const uint8_t *span, int pair)
{
	const struct q5_1 *b = (const struct q5_1 *)span + 2 * pair;

	return vb_or(vb_nibbles(b[0].qs, b[1].qs), vb_bits(b[0].qh, b[1].qh, 16));
}

INLINE b64 codes_q8_0(const uint8_t *span, int pair)
{
	const struct q8_0 *b = (const struct q8_0 *)span + 2 * pair;

	return vb_join(b[0].qs, b[1].qs);
}

INLINE void scales_q4_0(const uint8_t *span, struct scales *s)
{
	s->scale[0] = vf_f16s(span, sizeof(struct q4_0));
}

INLINE void scales_q4_1(const uint8_t *span, struct scales *s)
{
	s->scale[0] = vf_f16s(span, sizeof(struct q4_1));
	s->min[0] = vf_f16s(span + 2, sizeof(struct q4_1));
}

INLINE void scales_q5_0(const uint8_t *span, struct scales *s)
{
	s->scale[0] = vf_f16s(span, sizeof(struct q5_0));
}

INLINE void scales_q5_1(const uint8_t *span, struct scales *s)
{
	s->scale[0] = vf_f16s(span, sizeof(struct q5_1));
	s->min[0] = vf_f16s(span + 2, sizeof(struct q5_1));
}

INLINE void scales_q8_0(const uint8_t *span, struct scales *s)
{
	s->scale[0] = vf_f16s(span, sizeof(struct q8_0));
}

INLINE b64 codes_iq4_nl(const uint8_t *span, int pair)
{
	const struct iq4_nl *b = (const struct iq4_nl *)span + 2 * pair;

	return vb_lookup(iq4_values, vb_nibbles(b[0].qs, b[1].qs));
}

INLINE void scales_iq4_nl(const uint8_t *span, struct scales *s)
{
	s->scale[0] = vf_f16s(span, sizeof(struct iq4_nl));
}

/* The codes with their offset, which makes them positive. */
static const int8_t e2m1_codes[16] = E2M1_VALUES(OFFSET_mxfp4);
_Static_assert((int)OFFSET_mxfp4 == (int)OFFSET_nvfp4, "one table for both");

INLINE b64 codes_mxfp4(const uint8_t *span, int pair)
{
	const struct mxfp4 *b = (const struct mxfp4 *)span + 2 * pair;

	return vb_lookup(e2m1_codes, vb_nibbles(b[0].qs, b[1].qs));
}

/* The bytes at p + step·b for the blocks of eight lanes, from block b0 on. */
INLINE uint64_t lane_bytes(const uint8_t *p, size_t step, int b0)
{
	uint64_t bytes = 0;

	UNROLL
	for (int i = 0; i < 8; i++)
		bytes |= (uint64_t)p[step * (size_t)lane_block[b0 + i]] << 8 * i;
	return bytes;
}

/* 2^(e - 128): as exponent bits e is 2^(e - 127), except for e = 0. Scales from 2^100 on become infinite. */
INLINE void scales_mxfp4(const uint8_t *span, struct scales *s)
{
	size_t step = sizeof(struct mxfp4);
	i32x16 e = vi_bytes(vb_two(lane_bytes(span, step, 0), lane_bytes(span, step, 8)));
	f32x16 power = vf_max(vi_as_float(vi_shl(e, 23)), vf_set1(0x1p-127f));

	s->scale[0] = vf_mul(vf_mul(power, vf_set1(0x1p27f)), vf_set1(0x1p-28f));
}

/* ---- blocks of 64 and 128 ---- */

INLINE b64 codes_nvfp4(const uint8_t *span, int pair)
{
	const struct nvfp4 *b = (const struct nvfp4 *)span + pair;

	return vb_lookup(e2m1_codes, vb_nibble_groups(b->qs));
}

INLINE void scales_nvfp4(const uint8_t *span, struct scales *s)
{
	const struct nvfp4 *b = (const struct nvfp4 *)span;
	uint64_t two[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		two[i] = load32(b[2 * i].scales) | (uint64_t)load32(b[2 * i + 1].scales) << 32;
	vf_ue4m3_pairs(vb_two(two[0], two[1]), vb_two(two[2], two[3]), &s->scale[0], &s->scale[1]);
}

/* Four elements a byte: each byte in the lowest of four, and shifted by six, by twelve and by eighteen bits. */
INLINE b64 codes_q2_0(const uint8_t *span, int pair)
{
	const struct q2_0 *b = (const struct q2_0 *)span + pair;
	i32x16 v = vi_bytes(vb_16(b->qs));

	v = vi_or(v, vi_shl(v, 12));
	v = vi_or(v, vi_shl(v, 6));
	return vi_as_bytes(vi_and(v, vi_set1(0x03030303)));
}

/* A scale has two blocks, an even one and the next, which are four lanes apart. */
INLINE void scales_q2_0(const uint8_t *span, struct scales *s)
{
	size_t step = sizeof(struct q2_0);
	uint64_t a = four_u16s(span, step), b = four_u16s(span + 4 * step, step);

	s->scale[0] = vf_sixteen_f16s(vb_two(a, a), vb_two(b, b));
}

/* A bit an element: codes are 0 and 2. */
INLINE b64 codes_q1_0(const uint8_t *span, int pair)
{
	const uint8_t *bits = ((const struct q1_0 *)span)[pair / 2].qs + pair % 2 * 8;

	return vb_bits(bits, bits + 4, 2);
}

/* A scale has four blocks, two even ones and two odd ones. */
INLINE void scales_q1_0(const uint8_t *span, struct scales *s)
{
	const struct q1_0 *b = (const struct q1_0 *)span;
	uint64_t d[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		d[i] = (uint64_t)load16(b[i].d) * 0x10001;
	d[0] |= d[1] << 32;
	d[2] |= d[3] << 32;
	s->scale[0] = vf_sixteen_f16s(vb_two(d[0], d[0]), vb_two(d[2], d[2]));
}

#endif
