/* spans: a span of each quantised format, unpacked into memory. */
#include "spans.h"

#define FUNCTIONS(id, NAME, name, ...) \
	static void span_##name(const uint8_t *span, struct unpacked *to) { unpack_span(unpack_##name, span, to); } \
	static void turned_##name(const uint8_t *span, const uint8_t *far, struct unpacked *to) \
	{ \
		unpack_turned(unpack_##name, id, span, far, to); \
	}
FORMATS_QUANTISED(FUNCTIONS)

#define TYPE(id, NAME, name, ...) \
	[id] = { \
		.bytes = SPAN / BLOCK_##name * sizeof(struct name), \
		.offset = OFFSET_##name, \
		.class = SIGNED_##name ? CLASS_SIGNED : TOP_##name <= 15 && SCALES_##name == 1 ? CLASS_15 : \
		        TOP_##name <= 31 ? CLASS_31 : TOP_##name <= 63 ? CLASS_63 : CLASS_127, \
		.unpack = span_##name, .unpack_turned = turned_##name \
	},
const struct span_type span_types[FORMAT_LIMIT] = { FORMATS_QUANTISED(TYPE) };
