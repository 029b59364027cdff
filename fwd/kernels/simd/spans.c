/* spans: a span of each quantised format, unpacked into memory. */
#include "spans.h"

#define FUNCTIONS(id, NAME, name, ...) \
	static void span_scales_##name(const uint8_t *span, struct scales *s) { scales_##name(span, s); } \
	static void span_##name(const uint8_t *span, struct unpacked *to) \
	{ \
		span_codes(unpack_##name, span, to->codes); \
		scales_##name(span, &to->s); \
	}
FORMATS_QUANTISED(FUNCTIONS)

#define TYPE(id, NAME, name, ...) \
	[id] = { SPAN / BLOCK_##name * sizeof(struct name), OFFSET_##name, span_##name, span_scales_##name },
const struct span_type span_types[FORMAT_LIMIT] = { FORMATS_QUANTISED(TYPE) };
