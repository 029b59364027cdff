/* transposed: unpacks a span with the codes of one block in each lane (lanes.h), for columns.c. */
#ifndef TRANSPOSED_H
#define TRANSPOSED_H

#include "spans.h"

/* Blocks whose codes are nibbles of sixteen bytes, the low ones first, are transposed before they are unpacked: half of
 * the shuffles. Sixteen blocks begin at qs, `eight` bytes from one eight to the next, `step` bytes apart in each. */
INLINE void transposed_nibbles(const uint8_t *qs, size_t step, size_t eight, b64 codes[SPAN_VECTORS])
{
	UNROLL
	for (int i = 0; i < 4; i++) {
		const uint8_t *p = qs + 2 * (size_t)i * step;

		codes[i] = vb_of(vb_16(p), vb_16(p + step), vb_16(p + eight), vb_16(p + eight + step));
	}
	vb_transpose_quarters(codes);
	UNROLL
	for (int i = 0; i < 4; i++) {
		codes[i + 4] = vb_shr(codes[i], 4, 15);
		codes[i] = vb_low(codes[i]);
	}
}

/* The same where each 32 bytes are two blocks, in the low and in the high nibbles. */
INLINE void transposed_pairs(const uint8_t *span, b64 codes[SPAN_VECTORS])
{
	const struct q4_k *b = (const struct q4_k *)span;

	UNROLL
	for (int i = 0; i < 4; i++)
		codes[i] = vb_join(b[0].qs + 32 * i, b[1].qs + 32 * i);
	vb_transpose_quarters(codes);
	UNROLL
	for (int i = 0; i < 4; i++)     /* of the blocks' first and second halves */
		vb_split_nibbles(codes[i], &codes[i], &codes[i + 4]);
}

INLINE void transposed_lookup(const int8_t table[16], b64 codes[SPAN_VECTORS])
{
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		codes[i] = vb_lookup(table, codes[i]);
}

/* Signed codes have SIGNED_BIAS added. */
INLINE void unpack_transposed(struct unpacker u, enum format_id id, const uint8_t *span, b64 to[SPAN_VECTORS])
{
	struct code_layout l = layouts[id];
	b64 codes[SPAN_VECTORS];

	switch (l.kind) {
	case LAYOUT_NIBBLES: transposed_nibbles(span + l.first, l.step, l.eight, codes); break;
	case LAYOUT_PAIRS: transposed_pairs(span, codes); break;
	default:
		span_codes(u, span, codes);
		vb_transpose(codes);
	}
	if (l.table)
		transposed_lookup(l.table, codes);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		to[i] = u.is_signed && SIGNED_BIAS != 0 ? vb_add(codes[i], SIGNED_BIAS) : codes[i];
}

#endif
