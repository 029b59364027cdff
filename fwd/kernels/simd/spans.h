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

/* Fields as in struct unpacker. */
struct span_type {
	size_t bytes;
	int offset;
	void (*unpack)(const uint8_t *span, struct unpacked *to);
};

#define span_types ISA_NAME(span_types, ISA)
extern const struct span_type span_types[FORMAT_LIMIT];

#endif
