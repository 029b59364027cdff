/* spans: the unpackers of one instruction set as functions that the formats' common loops call, so that these are
 * compiled once and not for each format. spans.c is compiled once for each set, with ISA as its name (isa/NAME.c). */
#ifndef SPANS_H
#define SPANS_H

#include "prefetch.h"
#include "product.h"
#include "unpack.h"

/* A span in memory. */
struct unpacked {
	b64 codes[SPAN_VECTORS];
	struct scales s;
};

INLINE void unpack_span(struct unpacker u, const uint8_t *span, struct unpacked *to)
{
	struct grid_rows rows;

	read_rows(u, span, &rows);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		to->codes[i] = signed_codes(u, span, &rows, i);
	u.read_scales(span, &to->s);
}

/* ---- for columns.c: the codes of a block in each lane ---- */

INLINE void turned_codes(struct unpacker u, const uint8_t *span, b64 codes[SPAN_VECTORS])
{
	struct grid_rows rows;

	read_rows(u, span, &rows);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		codes[i] = signed_codes(u, span, &rows, i);
	vb_turn(codes);
}

/* Blocks whose codes are nibbles of sixteen bytes, the low ones first, are turned before they are unpacked: half of the
 * shuffles. Sixteen blocks begin at qs, `eight` bytes from one eight to the next, `step` bytes apart in each. */
INLINE void turned_nibbles(const uint8_t *qs, size_t step, size_t eight, b64 codes[SPAN_VECTORS])
{
	UNROLL
	for (int i = 0; i < 4; i++) {
		const uint8_t *p = qs + 2 * (size_t)i * step;

		codes[i] = vb_of(vb_16(p), vb_16(p + step), vb_16(p + eight), vb_16(p + eight + step));
	}
	vb_turn_quarters(codes);
	UNROLL
	for (int i = 0; i < 4; i++) {
		codes[i + 4] = vb_shr(codes[i], 4, 15);
		codes[i] = vb_low(codes[i]);
	}
}

/* The same where each 32 bytes are two blocks, in the low and in the high nibbles. */
INLINE void turned_pairs(const uint8_t *span, b64 codes[SPAN_VECTORS])
{
	const struct q4_k *b = (const struct q4_k *)span;

	UNROLL
	for (int i = 0; i < 4; i++)
		codes[i] = vb_join(b[0].qs + 32 * i, b[1].qs + 32 * i);
	vb_turn_quarters(codes);
	UNROLL
	for (int i = 0; i < 4; i++) {
		codes[i + 4] = vb_shr(codes[i], 4, 15);
		codes[i] = vb_low(codes[i]);
		vb_zip_quarters(&codes[i], &codes[i + 4]);
	}
}

INLINE void turned_lookup(const int8_t table[16], b64 codes[SPAN_VECTORS])
{
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		codes[i] = vb_lookup(table, codes[i]);
}

/* Signed codes have SIGNED_BIAS added. What lies at far is prefetched, and the row's next span: large ones earlier (two
 * threads, four columns: Q8_0 a tenth faster so, Q4_K 2% slower). */
INLINE void unpack_turned(struct unpacker u, uint32_t id, const uint8_t *span, const uint8_t *far, struct unpacked *to)
{
	b64 codes[SPAN_VECTORS];

	prefetch(span + (u.bytes > SPAN ? PREFETCH_NEAR : u.bytes), far, u.bytes);
	switch (id) {
#define NIBBLES(NAME, name) \
	case FORMAT_##NAME: \
		turned_nibbles(((const struct name *)span)->qs, sizeof(struct name), 8 * sizeof(struct name), codes); \
		break;
	NIBBLES(Q4_0, q4_0)
	NIBBLES(Q4_1, q4_1)
	NIBBLES(IQ4_NL, iq4_nl)
	NIBBLES(MXFP4, mxfp4)
#undef NIBBLES
	case FORMAT_IQ4_XS:
		turned_nibbles(((const struct iq4_xs *)span)->qs, 16, sizeof(struct iq4_xs), codes);
		break;
	case FORMAT_Q4_K: turned_pairs(span, codes); break;
	default: turned_codes(u, span, codes);
	}
	if (id == FORMAT_IQ4_NL || id == FORMAT_IQ4_XS)
		turned_lookup(iq4_values, codes);
	else if (id == FORMAT_MXFP4)
		turned_lookup(e2m1_codes, codes);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		to->codes[i] = u.is_signed && SIGNED_BIAS != 0 ? vb_add(codes[i], SIGNED_BIAS) : codes[i];
	u.read_scales(span, &to->s);
}

/* What codes go up to, for columns.c. */
enum code_class { CLASS_15, CLASS_31, CLASS_63, CLASS_127, CLASS_SIGNED, CODE_CLASSES };

/* Fields as in struct unpacker. */
struct span_type {
	size_t bytes;
	int offset;
	enum code_class class;
	void (*unpack)(const uint8_t *span, struct unpacked *to);
	void (*unpack_turned)(const uint8_t *span, const uint8_t *far, struct unpacked *to);
};

#define span_types ISA_NAME(span_types, ISA)
extern const struct span_type span_types[FORMAT_LIMIT];

#endif
