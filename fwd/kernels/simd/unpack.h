/* unpack: one unpacker for each quantised format. It reads a span, sixteen blocks of 32 (so two super-blocks of a
 * K format): the codes 64 bytes at a time, the scales in lane order (lanes.h). decode.c and prompt.c are made of
 * these. A new format is a function for its codes, one for its scales and a line in the list at the end; the rest
 * follows from its row in lib/gguf/formats.h. */
#ifndef UNPACK_H
#define UNPACK_H

#include "lib/gguf/blocks.h"
#include "vocabulary.h"

/* The scales and minima of sixteen blocks: [0] for whole blocks, or [0] and [1] for their halves. */
struct scales {
	f32x16 scale[2], min[2];
};

struct unpacker {
	size_t bytes;           /* of a span */
	int is_signed;          /* codes come as int8; otherwise unsigned, from 0 to top, with offset added */
	int offset, top;        /* offset: a power of two, or 0 */
	int scales, minima;     /* as in the format's row */
	b64 (*codes)(const uint8_t *span, int pair);    /* blocks 2·pair and 2·pair + 1 */
	/* Four blocks in quarters (lanes.h), for codes of at most 15, where that is quicker; or NULL. */
	void (*quarters)(const uint8_t *span, int four, b64 codes[2]);
	void (*read_scales)(const uint8_t *span, struct scales *s);
};

/* The least power of two that makes all codes positive is added to them, unless the highest would then pass 127. */
enum { BLOCK_BYTES_MOST = 36 };         /* of 32 elements in any format */
#define POWER(x) \
	((x) > 64 ? 128 : (x) > 32 ? 64 : (x) > 16 ? 32 : (x) > 8 ? 16 : (x) > 4 ? 8 : (x) > 2 ? 4 : (x) > 1 ? 2 : 1)
#define FROM_ROW(id, NAME, name, block, low, high, n_scales, has_minima) \
	enum { \
		BLOCK_##name = (block), SCALES_##name = (n_scales), MINIMA_##name = (has_minima), \
		POSITIVE_##name = (low) < 0 ? POWER(-(low)) : 0, SIGNED_##name = (high) + POSITIVE_##name > 127, \
		OFFSET_##name = SIGNED_##name ? 0 : POSITIVE_##name, \
		TOP_##name = SIGNED_##name ? 127 : (high) + OFFSET_##name \
	}; \
	_Static_assert(sizeof(struct name) <= (block) / 32 * BLOCK_BYTES_MOST, \
	               #NAME ": copies of a last span have room"); \
	_Static_assert(SPAN % (block) == 0, #NAME ": a span is whole blocks"); \
	_Static_assert(!(has_minima) || (low) >= 0, #NAME ": codes of types with minima are not negative");
FORMATS_QUANTISED(FROM_ROW)
#undef FROM_ROW
#undef POWER

static inline uint64_t load64(const void *p)
{
	uint64_t u;

	memcpy(&u, p, sizeof u);
	return u;
}

static inline uint32_t load32(const void *p)
{
	uint32_t u;

	memcpy(&u, p, sizeof u);
	return u;
}

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

/* ---- super-blocks of 256; lib/gguf/blocks.c says where the bits lie ---- */

INLINE b64 codes_q2_k(const uint8_t *span, int pair)
{
	const struct q2_k *b = (const struct q2_k *)span + pair / 4;
	int shift = pair % 2 * 4;

	return vb_fields(b->qs + pair % 4 / 2 * 32, shift, shift + 2, 3);
}

INLINE b64 codes_q3_k(const uint8_t *span, int pair)
{
	const struct q3_k *b = (const struct q3_k *)span + pair / 4;
	int shift = pair % 2 * 4, block = pair % 4 * 2;

	return vb_or(vb_fields(b->qs + pair % 4 / 2 * 32, shift, shift + 2, 3),
	             vb_fields(b->hmask, block - 2, block - 1, 4));
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
	const uint64_t low = 0x0f0f0f0f0f0f0f0f;
	const struct q2_k *b = (const struct q2_k *)span;
	uint64_t scale[4], min[4];
	f32x16 d, dmin;

	UNROLL
	for (int i = 0; i < 4; i++) {
		uint64_t u = load64(b[i / 2].scales + i % 2 * 8);

		scale[i] = u & low;
		min[i] = u >> 4 & low;
	}
	vf_two_pairs(b[0].d, b[1].d, &d, &dmin);
	dmin = vf_sub(vf_zero(), dmin);
	vf_byte_pairs(vb_two(scale[0], scale[1]), vb_two(scale[2], scale[3]), &s->scale[0], &s->scale[1]);
	vf_byte_pairs(vb_two(min[0], min[1]), vb_two(min[2], min[3]), &s->min[0], &s->min[1]);
	for (int i = 0; i < 2; i++) {
		s->scale[i] = vf_mul(d, s->scale[i]);
		s->min[i] = vf_mul(dmin, s->min[i]);
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
	vf_byte_pairs(vb_two(scale[0], scale[1]), vb_two(scale[2], scale[3]), &s->scale[0], &s->scale[1]);
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

	vf_byte_pairs(vb_16(b[0].scales), vb_16(b[1].scales), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(d, s->scale[i]);
}

/* ---- the unpackers ---- */

#define UNPACKER(name, quicker) \
	static const struct unpacker unpack_##name = { \
		.bytes = SPAN / BLOCK_##name * sizeof(struct name), \
		.is_signed = SIGNED_##name, .offset = OFFSET_##name, .top = TOP_##name, \
		.scales = SCALES_##name, .minima = MINIMA_##name, \
		.codes = codes_##name, .read_scales = scales_##name, .quarters = quicker \
	}
UNPACKER(q4_0, quarters_q4_0);
UNPACKER(q4_1, quarters_q4_1);
UNPACKER(q5_0, NULL);
UNPACKER(q5_1, NULL);
UNPACKER(q8_0, NULL);
UNPACKER(q2_k, NULL);
UNPACKER(q3_k, NULL);
UNPACKER(q4_k, quarters_q4_k);
UNPACKER(q5_k, NULL);
UNPACKER(q6_k, NULL);
#undef UNPACKER

#endif
