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

/* few: for decode.c; it runs straight through the rows, so what comes next is prefetched. */
INLINE void unpack_span(struct unpacker u, int few, const uint8_t *span, struct unpacked *to)
{
	if (few)
		prefetch(span, u.bytes);
	unpack_codes(u, span, to->codes, few);
	u.read_scales(span, &to->s);
}

/* How products of a format's codes are added up: in quarters, or halves of codes as vd_dot() takes them. */
enum code_class { CLASS_QUARTERS, CLASS_31, CLASS_63, CLASS_127, CLASS_SIGNED, CODE_CLASSES };

/* Fields as in struct unpacker. */
struct span_type {
	size_t bytes;
	int offset;
	enum code_class class;
	void (*unpack)(const uint8_t *span, struct unpacked *to);
	void (*unpack_few)(const uint8_t *span, struct unpacked *to);   /* in quarters if that is the class */
};

#define span_types ISA_NAME(span_types, ISA)
extern const struct span_type span_types[FORMAT_LIMIT];

#endif
