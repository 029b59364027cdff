/* widen: quantised weights as floats, for products with activations that stay floats. */
#ifndef WIDEN_H
#define WIDEN_H

#include "spans.h"

/* What is known of a format when its loop is compiled. */
struct widening {
	int offset;             /* in the codes */
	int scales, minima;
	size_t first, step, eight;      /* codes of block b: first + b % 8 · step + b / 8 · eight bytes into the span */
};

/* A span on its way: where it is, and the scales and minima of the blocks' halves, or of whole blocks in [0], in lane
 * order. A scale that is not finite is NaN. */
struct wide_span {
	const uint8_t *p;
	float scale[2][16], min[2][16];
};

INLINE void open_wide(struct widening t, const uint8_t *p, const struct scales *s, struct wide_span *to)
{
	to->p = p;
	for (int i = 0; i < t.scales; i++) {
		vf_store(to->scale[i], vf_sub(s->scale[i], vf_sub(s->scale[i], s->scale[i])));
		if (t.minima)
			vf_store(to->min[i], s->min[i]);
	}
}

/* Half h of block b. */
INLINE f32x16 widen_half(struct widening t, const struct wide_span *s, size_t b, size_t h)
{
	size_t i = t.scales == 2 ? h : 0, lane = block_lane(b);
	f32x16 v = vf_load_i8((const int8_t *)s->p + t.first + b % 8 * t.step + b / 8 * t.eight + 16 * h);

	if (t.offset)
		v = vf_sub(v, vf_set1((float)t.offset));
	v = vf_mul(vf_set1(s->scale[i][lane]), v);
	return t.minima ? vf_add(v, vf_set1(s->min[i][lane])) : v;
}

INLINE struct widening widening_q8_0(void)
{
	return (struct widening){ .scales = 1, .first = offsetof(struct q8_0, qs), .step = sizeof(struct q8_0),
		.eight = 8 * sizeof(struct q8_0) };
}

/* Of a span that was unpacked into memory. */
INLINE struct widening widening_unpacked(const struct format *f, int minima)
{
	int offset = minima ? 0 : span_types[f->id].offset;

	return (struct widening){ .offset = offset, .scales = f->scales, .minima = minima, .step = 32, .eight = 256 };
}

#endif
