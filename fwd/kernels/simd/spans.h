/* spans: the unpackers of one instruction set as functions that the formats' common loops call, so that these are
 * compiled once and not for each format. spans.c is compiled once for each set, with ISA as its name (isa/NAME.c). */
#ifndef SPANS_H
#define SPANS_H

#include "product.h"
#include "unpack.h"

/* A span in memory. */
struct unpacked {
	b64 codes[SPAN_VECTORS];
	struct scales s;
};

INLINE void span_codes(struct unpacker u, const uint8_t *span, b64 codes[SPAN_VECTORS])
{
	struct grid_rows rows;

	read_rows(u, span, &rows);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		codes[i] = signed_codes(u, span, &rows, i);
}

/* Where a type's codes lie, if those of a block, or of two, are whole bytes that follow each other: from byte
 * first + b % 8 · step + b / 8 · eight of a span on. */
struct code_layout {
	enum layout_kind {
		LAYOUT_SCATTERED,       /* they do not */
		LAYOUT_BYTES,           /* a byte each */
		LAYOUT_NIBBLES,         /* sixteen bytes: the low nibbles are the first half of block b */
		LAYOUT_PAIRS            /* thirty-two bytes: the low nibbles are block b, the high ones block b + 1 */
	} kind;
	size_t first, step, eight;
	const int8_t *table;            /* what the nibbles stand for; NULL: themselves */
};

#define BLOCKS(kind, name, ...) \
	{ LAYOUT_##kind, offsetof(struct name, qs), sizeof(struct name), 8 * sizeof(struct name), __VA_ARGS__ }
#define SUPER_BLOCKS(kind, name, ...) \
	{ LAYOUT_##kind, offsetof(struct name, qs), 16, sizeof(struct name), __VA_ARGS__ }
static const struct code_layout layouts[FORMAT_LIMIT] = {
	[FORMAT_Q4_0] = BLOCKS(NIBBLES, q4_0, NULL),
	[FORMAT_Q4_1] = BLOCKS(NIBBLES, q4_1, NULL),
	[FORMAT_Q8_0] = BLOCKS(BYTES, q8_0, NULL),
	[FORMAT_IQ4_NL] = BLOCKS(NIBBLES, iq4_nl, iq4_values),
	[FORMAT_MXFP4] = BLOCKS(NIBBLES, mxfp4, e2m1_codes),
	[FORMAT_Q4_K] = SUPER_BLOCKS(PAIRS, q4_k, NULL),
	[FORMAT_IQ4_XS] = SUPER_BLOCKS(NIBBLES, iq4_xs, iq4_values),
};
#undef BLOCKS
#undef SUPER_BLOCKS

/* Fields as in struct unpacker. */
struct span_type {
	size_t bytes;
	int offset;
	void (*unpack)(const uint8_t *span, struct unpacked *to);
	void (*scales)(const uint8_t *span, struct scales *s);
};

#define span_types ISA_NAME(span_types, ISA)
extern const struct span_type span_types[FORMAT_LIMIT];

#endif
