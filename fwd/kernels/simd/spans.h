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
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		to->codes[i] = u.codes(span, i);
	u.read_scales(span, &to->s);
}

/* For columns.c: the codes of a block in each lane, signed ones with SIGNED_BIAS added. What comes next in the row, and
 * what lies at far, is prefetched. */
INLINE void unpack_turned(struct unpacker u, const uint8_t *span, const uint8_t *far, struct unpacked *to)
{
	b64 codes[SPAN_VECTORS];

	prefetch(span + PREFETCH_NEAR, far, u.bytes);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		codes[i] = u.codes(span, i);
	vb_turn(codes);
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		to->codes[i] = u.is_signed && SIGNED_BIAS ? vb_add(codes[i], SIGNED_BIAS) : codes[i];
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
