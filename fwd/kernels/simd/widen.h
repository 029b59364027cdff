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

/* y[32]: block b of a span, which is at p. scale, min: of each half, in lane order. */
INLINE void widen_block(struct widening t, const uint8_t *p, size_t b, float (*scale)[16], float (*min)[16],
	float *y)
{
	const int8_t *codes = (const int8_t *)p + t.first + b % 8 * t.step + b / 8 * t.eight;
	size_t lane = block_lane(b);

	UNROLL
	for (int h = 0; h < 2; h++) {
		int i = t.scales == 2 ? h : 0;
		f32x16 v = vf_load_i8(codes + 16 * h);

		if (t.offset)
			v = vf_sub(v, vf_set1((float)t.offset));
		v = vf_mul(vf_set1(scale[i][lane]), v);
		vf_store(y + 16 * h, t.minima ? vf_add(v, vf_set1(min[i][lane])) : v);
	}
}

/* y[32 · blocks]: up to sixteen blocks of a span whose scales are s. */
INLINE void widen_blocks(struct widening t, const uint8_t *p, const struct scales *s, size_t blocks, float *y)
{
	float scale[2][16], min[2][16];

	for (int i = 0; i < t.scales; i++) {
		vf_store(scale[i], vf_sub(s->scale[i], vf_sub(s->scale[i], s->scale[i])));      /* or NaN */
		if (t.minima)
			vf_store(min[i], s->min[i]);
	}
	if (blocks == SPAN_BLOCKS) {
		UNROLL
		for (size_t b = 0; b < SPAN_BLOCKS; b++)
			widen_block(t, p, b, scale, min, y + 32 * b);
		return;
	}
	for (size_t b = 0; b < blocks; b++)
		widen_block(t, p, b, scale, min, y + 32 * b);
}

INLINE void widen_unpacked(struct widening t, const struct unpacked *u, size_t blocks, float *y)
{
	t.step = 32;
	t.eight = 8 * t.step;
	widen_blocks(t, (const uint8_t *)u->codes, &u->s, blocks, y);
}

/* y[32 · blocks]: up to sixteen blocks. A whole span is read. */
static void widen_span(const struct format *f, const uint8_t *span, size_t blocks, float *y)
{
	const struct span_type *type = &span_types[f->id];
	struct unpacked u;

	if (f->id == FORMAT_Q8_0) {
		scales_q8_0(span, &u.s);
		widen_blocks((struct widening){ .scales = 1, .first = offsetof(struct q8_0, qs),
			.step = sizeof(struct q8_0), .eight = 8 * sizeof(struct q8_0) },
			span, &u.s, blocks, y);
		return;
	}
	type->unpack(span, &u);
	if (f->minima)
		widen_unpacked((struct widening){ .scales = f->scales, .minima = 1 }, &u, blocks, y);
	else
		widen_unpacked((struct widening){ .scales = f->scales, .offset = type->offset }, &u, blocks, y);
}

#endif
