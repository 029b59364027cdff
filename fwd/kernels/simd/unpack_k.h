/* unpack_k: the unpackers (unpack.h) of types with super-blocks of 256 and codes of a few bits. lib/gguf/blocks.c says
 * where the bits lie. */
#ifndef UNPACK_K_H
#define UNPACK_K_H

INLINE b64 codes_q2_k(const uint8_t *span, int pair)
{
	const struct q2_k *b = (const struct q2_k *)span + pair / 4;
	int shift = pair % 2 * 4;

	return vb_fields(b->qs + pair % 4 / 2 * 32, shift, shift + 2, 3);
}

/* The codes of four blocks, in nibbles: each third bit comes from a table of its block's bit and that of the next but
 * one. */
INLINE b64 codes_q3_k(const uint8_t *span, int pair)
{
	static const int8_t third[16] = { [1] = 4, [4] = 4 << 4, [5] = 4 | 4 << 4 };
	const struct q3_k *b = (const struct q3_k *)span + pair / 4;
	int run = pair % 4 / 2;
	b64 v = vb_or(vb_fields(b->qs + run * 32, 0, 2, 0x33),
	              vb_lookup(third, vb_fields(b->hmask, run * 4, run * 4 + 1, 5)));

	return vb_shr(v, pair % 2 * 4, 15);
}

INLINE b64 codes_q4_k(const uint8_t *span, int pair)
{
	const struct q4_k *b = (const struct q4_k *)span + pair / 4;

	return vb_fields(b->qs + pair % 4 * 32, 0, 4, 15);
}

/* Low nibbles are an even block, high ones the next. */
INLINE void quarters_q4_k(const uint8_t *span, int four, b64 codes[2])
{
	const struct q4_k *b = (const struct q4_k *)span + four / 2;

	UNROLL
	for (int i = 0; i < 2; i++) {
		b64 v = vb_alternate(b->qs, i);

		codes[i] = four % 2 ? vb_shr(v, 4, 15) : vb_low(v);
	}
}

INLINE b64 codes_q5_k(const uint8_t *span, int pair)
{
	const struct q5_k *b = (const struct q5_k *)span + pair / 4;
	int block = pair % 4 * 2;

	return vb_or(vb_fields(b->qs + pair % 4 * 32, 0, 4, 15), vb_fields(b->qh, block - 4, block - 3, 16));
}

INLINE b64 codes_q6_k(const uint8_t *span, int pair)
{
	const struct q6_k *b = (const struct q6_k *)span + pair / 4;
	int run = pair % 4 / 2, shift = pair % 2 * 4;

	return vb_or(vb_shr(vb_load(b->ql + run * 64), shift, 15),
	             vb_fields(b->qh + run * 32, shift - 4, shift - 2, 0x30));
}

INLINE void scales_q2_k(const uint8_t *span, struct scales *s)
{
	const struct q2_k *b = (const struct q2_k *)span;
	b64 both = vb_twice(b[0].scales, b[1].scales);
	i32x16 scale[2], min[2];
	f32x16 d, dmin;

	vf_two_pairs(b[0].d, b[1].d, &d, &dmin);
	dmin = vf_sub(vf_zero(), dmin);
	vi_pairs(vb_low(both), &scale[0], &scale[1]);
	vi_pairs(vb_shr(both, 4, 15), &min[0], &min[1]);
	for (int i = 0; i < 2; i++) {
		s->scale[i] = vf_mul(d, vi_to_float(scale[i]));
		s->min[i] = vf_mul(dmin, vi_to_float(min[i]));
	}
}

INLINE void scales_q3_k(const uint8_t *span, struct scales *s)
{
	const uint64_t low = 0x0f0f0f0f0f0f0f0f, two = 0x03030303, top = 0x8080808080808080, bias = 0x2020202020202020;
	const struct q3_k *b = (const struct q3_k *)span;
	f32x16 d = vf_two_f16s(b[0].d, b[1].d);
	uint64_t scale[4];

	UNROLL
	for (int i = 0; i < 4; i++) {
		uint64_t u = load64(b[i / 2].scales) >> i % 2 * 4 & low, t = load32(b[i / 2].scales + 8) >> i % 2 * 4;

		u |= ((t & two) | (t >> 2 & two) << 32) << 4;
		scale[i] = ((u | top) - bias) ^ top;            /* byte by byte: u - 32 */
	}
	byte_pairs(vb_two(scale[0], scale[1]), vb_two(scale[2], scale[3]), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(d, s->scale[i]);
}

/* Q4_K and Q5_K: d and dmin at f16s, the six-bit scales and minima at packed, and the second super-block `step`
 * bytes on. */
INLINE void scales_k(const uint8_t *f16s, const uint8_t *packed, size_t step, struct scales *s)
{
	f32x16 d, dmin, scale, min;

	vf_six_bits(packed, packed + step, &scale, &min);
	vf_two_pairs(f16s, f16s + step, &d, &dmin);
	s->scale[0] = vf_mul(d, scale);
	s->min[0] = vf_mul(vf_sub(vf_zero(), dmin), min);
}

INLINE void scales_q4_k(const uint8_t *span, struct scales *s)
{
	const struct q4_k *b = (const struct q4_k *)span;

	scales_k(b->d, b->scales, sizeof *b, s);
}

INLINE void scales_q5_k(const uint8_t *span, struct scales *s)
{
	const struct q5_k *b = (const struct q5_k *)span;

	scales_k(b->d, b->scales, sizeof *b, s);
}

INLINE void scales_q6_k(const uint8_t *span, struct scales *s)
{
	const struct q6_k *b = (const struct q6_k *)span;
	f32x16 d = vf_two_f16s(b[0].d, b[1].d);

	byte_pairs(vb_16(b[0].scales), vb_16(b[1].scales), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(d, s->scale[i]);
}

INLINE b64 codes_iq4_xs(const uint8_t *span, int pair)
{
	const struct iq4_xs *b = (const struct iq4_xs *)span + pair / 4;

	return vb_lookup(iq4_values, vb_nibbles(b->qs + pair % 4 * 32, b->qs + pair % 4 * 32 + 16));
}

/* Six bits, less 32: a nibble of `low` and, above it, two bits of `high`, which follows d. */
INLINE void scales_iq4_xs(const uint8_t *span, struct scales *s)
{
	static const int32_t nibble[16] = { 0, 8, 16, 24, 4, 12, 20, 28, 0, 8, 16, 24, 4, 12, 20, 28 };
	static const int32_t pair[16] = { 16, 20, 24, 28, 18, 22, 26, 30, 16, 20, 24, 28, 18, 22, 26, 30 };
	const struct iq4_xs *b = (const struct iq4_xs *)span;
	i32x16 low = vi_shr_each(vi_two_words(b[0].low, b[1].low), vi_load(nibble));
	i32x16 high = vi_shr_each(vi_two_words(b[0].d, b[1].d), vi_sub(vi_load(pair), vi_set1(4)));
	i32x16 scale = vi_or(vi_and(low, vi_set1(0x0f)), vi_and(high, vi_set1(0x30)));

	s->scale[0] = vf_mul(vf_two_f16s(b[0].d, b[1].d), vi_to_float(vi_sub(scale, vi_set1(32))));
}

INLINE b64 codes_tq2_0(const uint8_t *span, int pair)
{
	const struct tq2_0 *b = (const struct tq2_0 *)span + pair / 4;
	int shift = pair % 2 * 4;

	return vb_fields(b->qs + pair % 4 / 2 * 32, shift, shift + 2, 3);
}

INLINE void scales_tq2_0(const uint8_t *span, struct scales *s)
{
	const struct tq2_0 *b = (const struct tq2_0 *)span;

	s->scale[0] = vf_two_f16s(b[0].d, b[1].d);
}

/* The powers of three that bring the digits of 64 elements to the top of their bytes. */
#define FOUR(x) x, x, x, x
#define SIXTEEN(x) FOUR(x), FOUR(x), FOUR(x), FOUR(x)
static const uint8_t tq1_0_powers[4][64] = {
	{ SIXTEEN(1), SIXTEEN(1), SIXTEEN(3), SIXTEEN(3) },
	{ SIXTEEN(9), SIXTEEN(9), SIXTEEN(27), SIXTEEN(27) },
	{ SIXTEEN(81), SIXTEEN(81), SIXTEEN(1), SIXTEEN(3) },
	{ SIXTEEN(9), SIXTEEN(27), SIXTEEN(81), FOUR(1), FOUR(3), FOUR(9), FOUR(27) },
};
#undef FOUR
#undef SIXTEEN

INLINE b64 codes_tq1_0(const uint8_t *span, int pair)
{
	const struct tq1_0 *b = (const struct tq1_0 *)span + pair / 4;
	b16 rest = vb_16(b->qs + 32);
	uint64_t last = load32(b->qh) * (uint64_t)0x100000001;
	b64 v;

	if (pair % 4 < 2)
		v = vb_join(b->qs, b->qs);
	else if (pair % 4 == 2)
		v = vb_of(vb_16(b->qs), vb_16(b->qs + 16), rest, rest);
	else
		v = vb_of(rest, rest, rest, vb_two(last, last));
	return vb_digits(v, tq1_0_powers[pair % 4]);
}

INLINE void scales_tq1_0(const uint8_t *span, struct scales *s)
{
	const struct tq1_0 *b = (const struct tq1_0 *)span;

	s->scale[0] = vf_two_f16s(b[0].d, b[1].d);
}

#endif
