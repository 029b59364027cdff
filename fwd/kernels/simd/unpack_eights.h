/* unpack_eights: unpackers (unpack.h) of codes in eights (lanes.h), for sets where the trees that add up products take
 * as long as the products. (AVX2, one column, in the cache, less time than without: IQ4_NL 8%, IQ4_XS 19%, MXFP4 18%,
 * TQ2_0 18%, NVFP4 18%, Q2_K 10%, Q1_0 and Q2_0 20 to 25%; Q3_K and TQ1_0 would take more.) Codebooks need none:
 * codes_in_eights() looks up their rows in this order. */
#ifndef UNPACK_EIGHTS_H
#define UNPACK_EIGHTS_H

/* Four blocks whose codes are nibbles of sixteen bytes, the low ones first. */
INLINE void eights_of_nibbles(b64 v, const int8_t table[16], b64 codes[2])
{
	v = vb_zip_eights(v);
	codes[0] = vb_lookup(table, vb_low(v));
	codes[1] = vb_lookup(table, vb_shr(v, 4, 15));
}

INLINE void eights_iq4_nl(const uint8_t *span, int four, b64 codes[2])
{
	const struct iq4_nl *b = (const struct iq4_nl *)span + 4 * four;

	eights_of_nibbles(vb_four(b->qs, sizeof *b), iq4_values, codes);
}

INLINE void eights_iq4_xs(const uint8_t *span, int four, b64 codes[2])
{
	const struct iq4_xs *b = (const struct iq4_xs *)span + four / 2;

	eights_of_nibbles(vb_load(b->qs + four % 2 * 64), iq4_values, codes);
}

INLINE void eights_mxfp4(const uint8_t *span, int four, b64 codes[2])
{
	const struct mxfp4 *b = (const struct mxfp4 *)span + 4 * four;

	eights_of_nibbles(vb_four(b->qs, sizeof *b), e2m1_codes, codes);
}

/* Each eight bytes are sixteen elements, the low nibbles first. */
INLINE void eights_nvfp4(const uint8_t *span, int four, b64 codes[2])
{
	const struct nvfp4 *b = (const struct nvfp4 *)span + 2 * four;

	eights_of_nibbles(vb_join(b[0].qs, b[1].qs), e2m1_codes, codes);
	vb_swap_inner(&codes[0], &codes[1]);
}

/* 32 bytes are four blocks, two bits each. */
INLINE void eights_of_four_blocks(const uint8_t *qs, b64 codes[2])
{
	codes[0] = vb_pair_eights(qs);
	codes[1] = vb_pair_eights(qs + 16);
}

INLINE void eights_q2_k(const uint8_t *span, int four, b64 codes[2])
{
	eights_of_four_blocks(((const struct q2_k *)span)[four / 2].qs + four % 2 * 32, codes);
}

INLINE void eights_tq2_0(const uint8_t *span, int four, b64 codes[2])
{
	eights_of_four_blocks(((const struct tq2_0 *)span)[four / 2].qs + four % 2 * 32, codes);
}

INLINE void eights_q2_0(const uint8_t *span, int four, b64 codes[2])
{
	const struct q2_0 *b = (const struct q2_0 *)span + 2 * four;

	vb_eights_of_pairs(b[0].qs, b[1].qs, codes);
}

INLINE void eights_q1_0(const uint8_t *span, int four, b64 codes[2])
{
	vb_eights_of_bits(((const struct q1_0 *)span)[four].qs, 2, codes);
}

#endif
