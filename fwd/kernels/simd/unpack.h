/* unpack: how each quantised format is read into vectors, in the vocabulary included before. Sixteen blocks of 32 codes are read at a time (a group;
 * two super-blocks of a K format): their codes 64 bytes at a time, and their scales in lane order (lanes.h). Both skeletons, dot.h and panel.h, are
 * made of these; a new format is two functions and a struct unpacker here. */
#ifndef UNPACK_H
#define UNPACK_H

#include "lib/gguf/blocks.h"

enum { GROUP = 512, GROUP_BLOCKS = 16, GROUP_CHUNKS = 8 };
enum { BLOCK_BYTES_MOST = 36 };         /* of 32 elements in any format */

/* Of sixteen blocks: the scales of their first halves and second halves, and likewise the minima. One of each serves a whole block. */
struct scales {
	f32x16 scale[2], min[2];
};

struct unpacker {
	size_t bytes;           /* of sixteen blocks */
	int is_signed;          /* codes are int8 as they are; otherwise unsigned, up to top, with offset added */
	int offset, top;        /* offset: a power of two, or 0 */
	int scales, minima;     /* of a block: 1 or 2 scales; has each a minimum? */
	b64 (*codes)(const uint8_t *group, int chunk);  /* blocks 2·chunk and 2·chunk + 1 */
	void (*quarters)(const uint8_t *group, int pair, b64 codes[2]); /* the same in quarters (lanes.h), four blocks, where that is quicker; or NULL */
	void (*read_scales)(const uint8_t *group, struct scales *s);
};

/* What an unpacker does with codes from low to high follows from the format's row: it adds the least power of two that makes them all positive, unless
 * the largest would then pass 127. */
#define POWER(x) ((x) > 64 ? 128 : (x) > 32 ? 64 : (x) > 16 ? 32 : (x) > 8 ? 16 : (x) > 4 ? 8 : (x) > 2 ? 4 : (x) > 1 ? 2 : 1)
#define CODES(id, NAME, name, block, low, high, n_scales, has_minima) \
	enum { \
		BLOCK_##name = (block), SCALES_##name = (n_scales), MINIMA_##name = (has_minima), \
		POSITIVE_##name = (low) < 0 ? POWER(-(low)) : 0, SIGNED_##name = (high) + POSITIVE_##name > 127, \
		OFFSET_##name = SIGNED_##name ? 0 : POSITIVE_##name, TOP_##name = SIGNED_##name ? 127 : (high) + OFFSET_##name \
	}; \
	_Static_assert(sizeof(struct name) <= (block) / 32 * BLOCK_BYTES_MOST, #NAME ": the copies of last groups have room"); \
	_Static_assert(!(has_minima) || (low) >= 0, #NAME ": beside minima codes are not negative");
FORMATS_QUANTISED(CODES)
#undef CODES
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

INLINE b64 codes_q4_0(const uint8_t *group, int c)
{
	const struct q4_0 *b = (const struct q4_0 *)group + 2 * c;

	return vb_nibbles(b[0].qs, b[1].qs);
}

INLINE b64 codes_q4_1(const uint8_t *group, int c)
{
	const struct q4_1 *b = (const struct q4_1 *)group + 2 * c;

	return vb_nibbles(b[0].qs, b[1].qs);
}

/* Blocks whose codes' halves are the halves of bytes, 16 at qs and so on. */
INLINE void quarters_of_blocks(const uint8_t *qs, size_t block, int pair, b64 codes[2])
{
	b64 v = vb_four(qs + (size_t)(pair / 2 * 8 + pair % 2) * block, 2 * block);

	codes[0] = vb_low(v);
	codes[1] = vb_shr(v, 4, 15);
}

INLINE void quarters_q4_0(const uint8_t *group, int pair, b64 codes[2])
{
	quarters_of_blocks(((const struct q4_0 *)group)->qs, sizeof(struct q4_0), pair, codes);
}

INLINE void quarters_q4_1(const uint8_t *group, int pair, b64 codes[2])
{
	quarters_of_blocks(((const struct q4_1 *)group)->qs, sizeof(struct q4_1), pair, codes);
}

INLINE b64 codes_q5_0(const uint8_t *group, int c)
{
	const struct q5_0 *b = (const struct q5_0 *)group + 2 * c;

	return vb_or(vb_nibbles(b[0].qs, b[1].qs), vb_bits(b[0].qh, b[1].qh, 16));
}

INLINE b64 codes_q5_1(const uint8_t *group, int c)
{
	const struct q5_1 *b = (const struct q5_1 *)group + 2 * c;

	return vb_or(vb_nibbles(b[0].qs, b[1].qs), vb_bits(b[0].qh, b[1].qh, 16));
}

INLINE b64 codes_q8_0(const uint8_t *group, int c)
{
	const struct q8_0 *b = (const struct q8_0 *)group + 2 * c;

	return vb_join(b[0].qs, b[1].qs);
}

INLINE void scales_q4_0(const uint8_t *group, struct scales *s)
{
	s->scale[0] = vf_halves(group, sizeof(struct q4_0));
}

INLINE void scales_q4_1(const uint8_t *group, struct scales *s)
{
	s->scale[0] = vf_halves(group, sizeof(struct q4_1));
	s->min[0] = vf_halves(group + 2, sizeof(struct q4_1));
}

INLINE void scales_q5_0(const uint8_t *group, struct scales *s)
{
	s->scale[0] = vf_halves(group, sizeof(struct q5_0));
}

INLINE void scales_q5_1(const uint8_t *group, struct scales *s)
{
	s->scale[0] = vf_halves(group, sizeof(struct q5_1));
	s->min[0] = vf_halves(group + 2, sizeof(struct q5_1));
}

INLINE void scales_q8_0(const uint8_t *group, struct scales *s)
{
	s->scale[0] = vf_halves(group, sizeof(struct q8_0));
}

/* ---- super-blocks of 256: where the bits lie is said in lib/blocks.h ---- */

INLINE b64 codes_q2_k(const uint8_t *group, int c)
{
	const struct q2_k *b = (const struct q2_k *)group + c / 4;
	int shift = c % 2 * 4;

	return vb_fields(b->qs + c % 4 / 2 * 32, shift, shift + 2, 3);
}

INLINE b64 codes_q3_k(const uint8_t *group, int c)
{
	const struct q3_k *b = (const struct q3_k *)group + c / 4;
	int shift = c % 2 * 4, block = c % 4 * 2;

	return vb_or(vb_fields(b->qs + c % 4 / 2 * 32, shift, shift + 2, 3), vb_fields(b->hmask, block - 2, block - 1, 4));
}

INLINE b64 codes_q4_k(const uint8_t *group, int c)
{
	const struct q4_k *b = (const struct q4_k *)group + c / 4;

	return vb_fields(b->qs + c % 4 * 32, 0, 4, 15);
}

/* Low halves of bytes are an even block, high ones the next. */
INLINE void quarters_q4_k(const uint8_t *group, int pair, b64 codes[2])
{
	const struct q4_k *b = (const struct q4_k *)group + pair / 2;

	UNROLL
	for (int i = 0; i < 2; i++) {
		b64 v = vb_alternate(b->qs, i);

		codes[i] = pair % 2 ? vb_shr(v, 4, 15) : vb_low(v);
	}
}

INLINE b64 codes_q5_k(const uint8_t *group, int c)
{
	const struct q5_k *b = (const struct q5_k *)group + c / 4;
	int block = c % 4 * 2;

	return vb_or(vb_fields(b->qs + c % 4 * 32, 0, 4, 15), vb_fields(b->qh, block - 4, block - 3, 16));
}

INLINE b64 codes_q6_k(const uint8_t *group, int c)
{
	const struct q6_k *b = (const struct q6_k *)group + c / 4;
	int run = c % 4 / 2, shift = c % 2 * 4;

	return vb_or(vb_shr(vb_load(b->ql + run * 64), shift, 15), vb_fields(b->qh + run * 32, shift - 4, shift - 2, 0x30));
}

INLINE void scales_q2_k(const uint8_t *group, struct scales *s)
{
	const uint64_t low = 0x0f0f0f0f0f0f0f0f;
	const struct q2_k *b = (const struct q2_k *)group;
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

INLINE void scales_q3_k(const uint8_t *group, struct scales *s)
{
	const uint64_t low = 0x0f0f0f0f0f0f0f0f, two = 0x03030303, top = 0x8080808080808080, bias = 0x2020202020202020;
	const struct q3_k *b = (const struct q3_k *)group;
	f32x16 d = vf_two_halves(b[0].d, b[1].d);
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

INLINE void scales_k(const uint8_t *halves, const uint8_t *packed, size_t step, struct scales *s)
{
	f32x16 d, dmin, scale, min;

	vf_six_bits(packed, packed + step, &scale, &min);
	vf_two_pairs(halves, halves + step, &d, &dmin);
	s->scale[0] = vf_mul(d, scale);
	s->min[0] = vf_mul(vf_sub(vf_zero(), dmin), min);
}

INLINE void scales_q4_k(const uint8_t *group, struct scales *s)
{
	const struct q4_k *b = (const struct q4_k *)group;

	scales_k(b->d, b->scales, sizeof *b, s);
}

INLINE void scales_q5_k(const uint8_t *group, struct scales *s)
{
	const struct q5_k *b = (const struct q5_k *)group;

	scales_k(b->d, b->scales, sizeof *b, s);
}

INLINE void scales_q6_k(const uint8_t *group, struct scales *s)
{
	const struct q6_k *b = (const struct q6_k *)group;
	f32x16 d = vf_two_halves(b[0].d, b[1].d);

	vf_byte_pairs(vb_16(b[0].scales), vb_16(b[1].scales), &s->scale[0], &s->scale[1]);
	for (int i = 0; i < 2; i++)
		s->scale[i] = vf_mul(d, s->scale[i]);
}

/* ---- the unpackers ---- */

#define UNPACKER(name, quicker) \
	static const struct unpacker unpack_##name = { \
		.bytes = GROUP / BLOCK_##name * sizeof(struct name), .is_signed = SIGNED_##name, .offset = OFFSET_##name, .top = TOP_##name, \
		.scales = SCALES_##name, .minima = MINIMA_##name, .codes = codes_##name, .read_scales = scales_##name, .quarters = quicker \
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
