/* panel: panels of quantised weights for a prompt, and filling them. A panel holds codes of one byte (or 16 bits) with
 * the rows in the lanes, four codes of a row in each, block after block in visiting order (lanes.h), and after each
 * block its scales. From there on the format matters no more, except for its number of scales and whether it has
 * minima. */
#ifndef PANEL_H
#define PANEL_H

#include <string.h>

#include "spans.h"
#include "tiles.h"

/* Bytes of a block's codes: int8[8][32 rows][4]; or int16[2][8][32 rows][2], elements 0 and 2 of each four, then 1
 * and 3. */
INLINE size_t panel_codes(int i16)
{
	return (size_t)TILE_ODD << i16;
}

/* The fields after a block's codes: [32 rows] of each that the format has. */
enum panel_field {
	/* Integer sums are converted, and multiplied with the scale; or, unless panel_converts(), made as the float
	 * MAGIC_FLOAT + isum: then the addend is -scale·MAGIC_FLOAT, which is exact, and the fma takes it away. The
	 * scale (or the addend) is NaN where the scale is not finite. */
	PANEL_SCALE, PANEL_ADDEND,
	PANEL_SECOND,                   /* the scale of the second half */
	/* the minima: here with one scale a block, one field later with two (panel_min) */
	PANEL_MINIMA = PANEL_SECOND
};

INLINE int panel_min(int scales)
{
	return PANEL_MINIMA + scales - 1;
}

INLINE int panel_converts(int planes)
{
	return planes == 2 || TILE_PAIRS;
}

/* What a panel adds to codes, as tile_dot() takes no negative ones: a power of two, or 0. Codes of types with minima
 * are not negative and stay as they are. */
INLINE int tile_bias(struct tile_shape t)
{
	return t.minima ? 0 : t.i16 ? 128 : t.planes == 2 ? 0 : TILE_BIAS / t.run;
}

/* Is the bias undone in sums of 32 bits? */
INLINE int panel_undo(struct tile_shape t)
{
	return t.i16 || !TILE_PAIRS;
}

/* The number of parts of a panel of `blocks` blocks. */
static inline int panel_splits(size_t blocks, int i16)
{
	return splits_of(blocks, i16 ? PANEL_SPLIT_I16 : PANEL_SPLIT);
}

INLINE size_t panel_block(int i16, int scales, int minima)
{
	return panel_codes(i16) + (size_t)(panel_min(scales) + (minima ? scales : 0)) * KERNELS_ROWS * 4;
}

static inline size_t panel_bytes(size_t k)
{
	return k / 32 * panel_block(TILE_I16, 2, 1);
}

/* ---- filling it ---- */

static inline float *panel_field(struct panel *p, size_t g, int block, int f)
{
	return (float *)(p->data + (p->first[block] + g) * p->block + panel_codes(p->i16)) + f * KERNELS_ROWS;
}

/* Stores codes of 16 rows, four of a row in each lane. */
INLINE void store_codes(uint8_t *to, i32x16 codes, int i16)
{
	const i32x16 even = vi_set1(0x00ff00ff);

	if (i16)
		vi_store((int32_t *)(to + TILE_ODD), vi_and(vi_shr(codes, 8), even));
	vi_store((int32_t *)to, i16 ? vi_and(codes, even) : codes);
}

/* Sixteen rows of a span in memory, `step` bytes apart, and where they go. */
struct span_rows {
	const uint8_t *first;
	size_t step;
	size_t g, count;        /* number of the span, and of its blocks */
	size_t place;           /* in the panel: rows from 0 or from 16 on */
};

/* Stores half h of block b: sixteen codes of each row, four in each lane of each of v[4]. */
INLINE void store_half(struct panel *p, struct span_rows s, size_t b, size_t h, int i16, const b64 v[4], int shift)
{
	uint8_t *to = p->data + (p->first[b] + s.g) * p->block + (4 * h * KERNELS_ROWS + s.place) * 4;
	i32x16 fours[4];

	UNROLL
	for (int i = 0; i < 4; i++)
		fours[i] = vb_as_int(vb_add(v[i], shift));
	tile_pair(&fours[0], &fours[1]);
	tile_pair(&fours[2], &fours[3]);
	UNROLL
	for (int i = 0; i < 4; i++)
		store_codes(to + i * 4 * KERNELS_ROWS, fours[i], i16);
}

/* The sixteen bytes at p of each row, four in each lane of each of v[4]. */
INLINE void load_half(const uint8_t *p, size_t step, b64 v[4])
{
	UNROLL
	for (int i = 0; i < 4; i++, p += step)
		v[i] = vb_of(vb_16(p), vb_16(p + 4 * step), vb_16(p + 8 * step), vb_16(p + 12 * step));
	vb_transpose_quarters(v);
}

/* The codes of sixteen rows. They lie in the lanes before nibbles are taken apart, which saves half of the shuffles.
 * shift: added to each. */
INLINE void fill_span(struct panel *p, struct code_layout l, struct span_rows s, int shift)
{
	size_t pairs = l.kind == LAYOUT_PAIRS, halves = l.kind == LAYOUT_NIBBLES ? 1 : 2;
	int i16 = p->i16;

	for (size_t b = 0; b < s.count; b += 1 + pairs) {
		const uint8_t *from = s.first + l.first + b % 8 * l.step + b / 8 * l.eight;

		UNROLL
		for (size_t h = 0; h < halves; h++) {
			b64 v[4], high[4];

			load_half(from + 16 * h, s.step, v);
			if (l.kind != LAYOUT_BYTES) {
				UNROLL
				for (int i = 0; i < 4; i++) {
					high[i] = vb_shr(v[i], 4, 15);
					v[i] = vb_low(v[i]);
					if (l.table) {
						high[i] = vb_lookup(l.table, high[i]);
						v[i] = vb_lookup(l.table, v[i]);
					}
				}
				store_half(p, s, b + pairs, pairs ? h : 1, i16, high, shift);
			}
			store_half(p, s, b, h, i16, v, shift);
		}
	}
}

/* Has each kind of layout compiled for itself. */
static void fill_span_of_any(struct panel *p, struct code_layout l, struct span_rows s, int shift)
{
	switch (l.kind) {
	case LAYOUT_NIBBLES: fill_span(p, l, s, shift); break;
	case LAYOUT_PAIRS: fill_span(p, l, s, shift); break;
	default: l.kind = LAYOUT_BYTES; fill_span(p, l, s, shift);
	}
}

/* Stores field f of each block. *v is that of the first row, with blocks in lane order; those of the others lie at the
 * same place of the next structs. */
static __attribute__((noinline)) void spread(struct panel *p, const f32x16 *v, struct span_rows s, int f)
{
	i32x16 t[16];

	UNROLL
	for (size_t i = 0; i < 16; i++)
		t[i] = vf_as_int(*(const f32x16 *)((const char *)v + i * sizeof(struct unpacked)));
	vi_transpose(t);
	UNROLL
	for (int i = 0; i < 16; i++) {
		f32x16 x = vi_as_float(t[i]);
		float *to = panel_field(p, s.g, lane_block[i], f) + s.place;

		if (lane_block[i] >= s.count)
			continue;
		if (f == PANEL_SCALE && panel_converts(p->planes))
			x = vf_sub(x, vf_sub(x, x));
		else if (f == PANEL_SCALE)
			vf_store(to + (PANEL_ADDEND - PANEL_SCALE) * KERNELS_ROWS, vf_mul(x, vf_set1(-MAGIC_FLOAT)));
		vf_store(to, x);
	}
}

/* Prefetches the next span of a row. What tiles_ahead() prefetched is in the second-level cache or, by now, in the
 * third, and the rows are too many streams for the hardware (AVX-512, Q8_0, other work on the machine: filling
 * takes a fiftieth of the time, a fifteenth without). */
INLINE void prefetch_span(const uint8_t *next, size_t bytes)
{
	for (size_t line = 0; line < bytes; line += 64)
		__builtin_prefetch(next + line, 0, 3);
}

typedef uint8_t span_copies[16][SPAN_BLOCKS * BLOCK_BYTES_MOST];

/* Span g of sixteen rows from r on, *step bytes apart. It is copied where it passes the end of the matrix, as the
 * mapping may end there, too, and where there are fewer rows; the last one then comes again. */
static const uint8_t *span_of_rows(const struct matrix *w, size_t r, size_t r1, size_t g, span_copies copy,
                                   size_t *step)
{
	size_t bytes = span_types[w->format->id].bytes, at = g * bytes;
	const uint8_t *data = w->data, *end = data + w->rows * w->row_bytes;

	*step = w->row_bytes;
	if (r + 16 <= r1 && (r + 15) * *step + at + bytes <= (size_t)(end - data))
		return data + r * *step + at;
	memset(copy, 0, sizeof(span_copies));
	for (size_t i = 0; i < 16; i++) {
		const uint8_t *from = data + size_min(r + i, r1 - 1) * *step + at;

		memcpy(copy[i], from, size_min((size_t)(end - from), bytes));
	}
	*step = sizeof copy[0];
	return copy[0];
}

static void fill_codes(struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	const struct format *f = w->format;
	const struct span_type *type = &span_types[f->id];
	int scattered = layouts[f->id].kind == LAYOUT_SCATTERED;
	struct unpacked span[16];
	span_copies copy;

	for (struct span_rows s = { .place = 0 }; s.place < KERNELS_ROWS; s.place += 16)
		for (s.g = 0; s.g * 16 < p->blocks; s.g++) {
			struct code_layout l = { LAYOUT_BYTES, 0, 32, 8 * 32, NULL };

			s.count = size_min(p->blocks - s.g * 16, 16);
			s.first = span_of_rows(w, r + s.place, r1, s.g, copy, &s.step);
			for (size_t i = 0; i < 16; i++) {
				const uint8_t *from = s.first + i * s.step;

				prefetch_span(from + type->bytes, type->bytes);
				if (scattered)
					type->unpack(from, &span[i]);
				else
					type->scales(from, &span[i].s);
			}
			if (scattered) {
				s.first = (const uint8_t *)span[0].codes;
				s.step = sizeof *span;
			} else
				l = layouts[f->id];
			fill_span_of_any(p, l, s, p->bias - type->offset);
			spread(p, &span[0].s.scale[0], s, PANEL_SCALE);
			if (f->scales == 2)
				spread(p, &span[0].s.scale[1], s, PANEL_SECOND);
			for (int i = 0; i < (f->minima ? f->scales : 0); i++)
				spread(p, &span[0].s.min[i], s, panel_min(f->scales) + i);
		}
}

#endif
