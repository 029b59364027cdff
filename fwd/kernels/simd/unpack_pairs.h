/* unpack_pairs: unpackers (unpack.h) of codes in quarters, fields and groups (lanes.h), for sets that add up the
 * products of two vectors of any codes. Signed codes have SIGNED_BIAS added. */
#ifndef UNPACK_PAIRS_H
#define UNPACK_PAIRS_H

static const uint8_t iq4_codes[16] = IQ4_VALUES(SIGNED_BIAS);

INLINE void quarters_lookup(const void *table, b64 codes[2])
{
	codes[0] = vb_lookup(table, codes[0]);
	codes[1] = vb_lookup(table, codes[1]);
}

INLINE void quarters_iq4_nl(const uint8_t *span, int four, b64 codes[2])
{
	quarters_of_blocks(((const struct iq4_nl *)span)->qs, sizeof(struct iq4_nl), four, codes);
	quarters_lookup(iq4_codes, codes);
}

INLINE void quarters_iq4_xs(const uint8_t *span, int four, b64 codes[2])
{
	quarters_of_blocks(((const struct iq4_xs *)span)[four / 2].qs, 16, four % 2, codes);
	quarters_lookup(iq4_codes, codes);
}

INLINE void quarters_mxfp4(const uint8_t *span, int four, b64 codes[2])
{
	quarters_of_blocks(((const struct mxfp4 *)span)->qs, sizeof(struct mxfp4), four, codes);
	quarters_lookup(e2m1_codes, codes);
}

/* Blocks whose nibbles have a fifth bit in four bytes at qh. */
INLINE void quarters_with_fifth(const uint8_t *qs, const uint8_t *qh, size_t block, int four, b64 codes[2])
{
	quarters_of_blocks(qs, block, four, codes);
	qh += (size_t)(four / 2 * 8 + four % 2) * block;
	UNROLL
	for (int i = 0; i < 2; i++)
		codes[i] = vb_add_where(codes[i], four_u16s(qh + 2 * i, 2 * block), 16);
}

INLINE void quarters_q5_0(const uint8_t *span, int four, b64 codes[2])
{
	const struct q5_0 *b = (const struct q5_0 *)span;

	quarters_with_fifth(b->qs, b->qh, sizeof *b, four, codes);
}

INLINE void quarters_q5_1(const uint8_t *span, int four, b64 codes[2])
{
	const struct q5_1 *b = (const struct q5_1 *)span;

	quarters_with_fifth(b->qs, b->qh, sizeof *b, four, codes);
}

/* Bit b of each byte of qh is for block b. */
INLINE void quarters_q5_k(const uint8_t *span, int four, b64 codes[2])
{
	const struct q5_k *b = (const struct q5_k *)span + four / 2;

	UNROLL
	for (int i = 0; i < 2; i++) {
		b64 v = vb_alternate(b->qs, i), fifth = vb_quarter_fields(b->qh + 16 * i, four % 2 - 4, 16);

		codes[i] = vb_or(four % 2 ? vb_shr(v, 4, 15) : vb_low(v), fifth);
	}
}

/* Bytes hold the codes of four blocks, two bits each: those of blocks 0 to 3, then of blocks 4 to 7. They are shifted
 * right and masked. */
INLINE void fields_of(const uint8_t *qs, const uint8_t *qs2, int right, int mask, b64 codes[2])
{
	b64 v = vb_load(qs), w = vb_load(qs2);

	vb_zip_halves(&v, &w);
	codes[0] = vb_shr(v, right, mask);
	codes[1] = vb_shr(w, right, mask);
}

INLINE void fields_q2_k(const uint8_t *span, int four, b64 codes[2])
{
	const struct q2_k *b = (const struct q2_k *)span;

	fields_of(b[0].qs, b[1].qs, 2 * four, 3, codes);
}

INLINE void placed_q2_k(const uint8_t *span, int four, b64 codes[2])
{
	const struct q2_k *b = (const struct q2_k *)span;

	fields_of(b[0].qs, b[1].qs, 0, 3 << 2 * four, codes);
}

INLINE void fields_tq2_0(const uint8_t *span, int four, b64 codes[2])
{
	const struct tq2_0 *b = (const struct tq2_0 *)span;

	fields_of(b[0].qs, b[1].qs, 2 * four, 3, codes);
}

INLINE void placed_tq2_0(const uint8_t *span, int four, b64 codes[2])
{
	const struct tq2_0 *b = (const struct tq2_0 *)span;

	fields_of(b[0].qs, b[1].qs, 0, 3 << 2 * four, codes);
}

/* The third bits are four bits of a byte. Codes become nibbles: of blocks 0 and 2, then of 1 and 3. */
INLINE void nibbles_q3_k(const uint8_t *span, int odd, b64 nibbles[2])
{
	static const int8_t third[2][16] = {
		{ 0, 0x04, 0, 0x04, 0x40, 0x44, 0x40, 0x44, 0, 0x04, 0, 0x04, 0x40, 0x44, 0x40, 0x44 },
		{ 0, 0, 0x04, 0x04, 0, 0, 0x04, 0x04, 0x40, 0x40, 0x44, 0x44, 0x40, 0x40, 0x44, 0x44 }
	};
	const struct q3_k *b = (const struct q3_k *)span;
	b64 v[2] = { vb_load(b[0].qs), vb_load(b[1].qs) };
	b64 bits[2] = { vb_fields(b[0].hmask, 0, 4, 15), vb_fields(b[1].hmask, 0, 4, 15) };

	vb_zip_halves(&v[0], &v[1]);
	vb_zip_halves(&bits[0], &bits[1]);
	UNROLL
	for (int i = 0; i < 2; i++)
		nibbles[i] = vb_or(vb_shr(v[i], odd * 2, 0x33), vb_lookup(third[odd], bits[i]));
}

INLINE void fields_q3_k(const uint8_t *span, int four, b64 codes[2])
{
	nibbles_q3_k(span, four % 2, codes);
	codes[0] = vb_shr(codes[0], four / 2 * 4, 15);
	codes[1] = vb_shr(codes[1], four / 2 * 4, 15);
}

INLINE void placed_q3_k(const uint8_t *span, int four, b64 codes[2])
{
	int mask = 15 << four / 2 * 4;

	nibbles_q3_k(span, four % 2, codes);
	codes[0] = vb_shr(codes[0], 0, mask);
	codes[1] = vb_shr(codes[1], 0, mask);
}

/* Not plain, so that the products of two vectors are added at once, before any tree. */
INLINE void fields_q8_0(const uint8_t *span, int four, b64 codes[2])
{
	const struct q8_0 *b = (const struct q8_0 *)span + four;

	codes[0] = vb_add(vb_join(b[0].qs, b[4].qs), SIGNED_BIAS);
	codes[1] = vb_add(vb_join(b[8].qs, b[12].qs), SIGNED_BIAS);
	vb_zip_halves(&codes[0], &codes[1]);
}

INLINE void groups_nvfp4(const uint8_t *span, int four, b64 codes[2])
{
	const struct nvfp4 *b = (const struct nvfp4 *)span + 2 * four;
	b64 v = vb_join(b[0].qs, b[1].qs);

	codes[0] = vb_lookup(e2m1_codes, vb_low(v));
	codes[1] = vb_lookup(e2m1_codes, vb_shr(v, 4, 15));
}

#endif
