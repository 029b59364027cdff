/* float_panel: the panels of float weights and the kernel that multiplies them (tiles.h). A panel holds floats,
 * element after element in visiting order, thirty-two rows in each. */
#ifndef FLOAT_PANEL_H
#define FLOAT_PANEL_H

#include <string.h>

#include "floats.h"
#include "panel.h"
#include "widen.h"

static inline size_t float_panel_floats(size_t k)
{
	return k * KERNELS_ROWS + 16 * FLOAT_GAP;
}

/* Sixteen rows to panel[k in visiting order][32]. */
INLINE void fill_float_rows(float_reader *read, size_t size, float *panel, const size_t first[16],
                            const uint8_t *const row[16], size_t k)
{
	float *to[16];
	size_t whole = k / 16 * 16;
	i32x16 v[16];

	for (size_t i = 0; i < 16; i++)
		to[residues[i]] = panel + first[residues[i]] * KERNELS_ROWS + i * FLOAT_GAP;
	for (size_t e = 0; e < whole; e += 16) {
		UNROLL
		for (int i = 0; i < 16; i++)
			if (begins_line(size, e))
				__builtin_prefetch(row[i] + e * size + FLOAT_FILL_AHEAD, 0, 3);
		UNROLL
		for (int i = 0; i < 16; i++)
			v[i] = vf_as_int(read(row[i] + e * size));
		vi_transpose(v);
		UNROLL
		for (int i = 0; i < 16; i++)
			vf_store(to[i] + e / 16 * KERNELS_ROWS, vi_as_float(v[i]));
	}
	if (whole < k) {
		for (int i = 0; i < 16; i++) {
			uint8_t rest[64] = { 0 };

			v[i] = vf_as_int(read(memcpy(rest, row[i] + whole * size, (k - whole) * size)));
		}
		vi_transpose(v);
		for (size_t i = 0; i < k - whole; i++)
			vf_store(to[i] + whole / 16 * KERNELS_ROWS, vi_as_float(v[i]));
	}
}

INLINE void fill_floats(float_reader *read, size_t size, struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	for (size_t rows = 0; rows < KERNELS_ROWS && r + rows < r1; rows += 16) {
		const uint8_t *row[16];

		for (size_t i = 0; i < 16; i++)
			row[i] = (const uint8_t *)w->data + (r + rows + i < r1 ? r + rows + i : r1 - 1) * w->row_bytes;
		fill_float_rows(read, size, (float *)p->data + rows, p->first, row, w->cols);
	}
}

/* Sixteen rows of span g, `blocks` blocks of each; place: of the first row in the panel. */
INLINE void fill_wide_rows(struct widening t, struct panel *p, const struct wide_span s[16], size_t g, size_t blocks,
	size_t place)
{
	float *to[16];

	for (size_t i = 0; i < 16; i++)
		to[residues[i]] = (float *)p->data + (p->first[residues[i]] + g * 2 * SPAN_BLOCKS) * KERNELS_ROWS
			+ i * FLOAT_GAP + place;
	for (size_t n = 0; n < 2 * blocks; n++) {
		i32x16 v[16];

		UNROLL
		for (int i = 0; i < 16; i++)
			v[i] = vf_as_int(widen_half(t, &s[i], n / 2, n % 2));
		vi_transpose(v);
		UNROLL
		for (int i = 0; i < 16; i++)
			vf_store(to[i] + n * KERNELS_ROWS, vi_as_float(v[i]));
	}
}

/* Quantised weights. */
INLINE void fill_wide(struct widening t, struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	const struct span_type *type = &span_types[w->format->id];
	size_t blocks = w->cols / 32, step;
	int in_place = w->format->id == FORMAT_Q8_0;
	struct unpacked u[16];
	struct wide_span s[16];
	span_copies copy;

	for (size_t rows = 0; rows < KERNELS_ROWS && r + rows < r1; rows += 16)
		for (size_t g = 0; g * SPAN_BLOCKS < blocks; g++) {
			const uint8_t *span = span_of_rows(w, r + rows, r1, g, copy, &step);

			for (size_t i = 0; i < 16; i++, span += step) {
				prefetch_span(span + type->bytes, type->bytes);
				if (in_place)
					type->scales(span, &u[i].s);
				else
					type->unpack(span, &u[i]);
				open_wide(t, in_place ? span : (const uint8_t *)u[i].codes, &u[i].s, &s[i]);
			}
			fill_wide_rows(t, p, s, g, size_min(blocks - g * SPAN_BLOCKS, SPAN_BLOCKS), rows);
		}
}

static void fill_widened(struct panel *p, const struct matrix *w, size_t r, size_t r1)
{
	if (w->format->id == FORMAT_Q8_0)
		fill_wide(widening_q8_0(), p, w, r, r1);
	else if (w->format->minima)
		fill_wide(widening_unpacked(w->format, 1), p, w, r, r1);
	else
		fill_wide(widening_unpacked(w->format, 0), p, w, r, r1);
}

/* As tile_strip(), along the current part of k, of `vectors` vectors of rows. columns: computed here, of the width
 * columns of the tile of activations. */
INLINE void float_tile_run(int columns, int width, int vectors, struct tiling *d, const struct panel *p, const float *w,
	const float *x, f32x16 (*stack)[FLOAT_COLUMNS * TILE_VECTORS])
{
	int count = 16 / d->splits, sums = columns * vectors;
	const unsigned char *residue = residues + d->split * count;

	w += p->first[*residue] * KERNELS_ROWS + (size_t)(d->split * count) * FLOAT_GAP;
	x += p->first[*residue] * (size_t)width;
	for (int u = 0; u < count; u++, stack++, w += FLOAT_GAP) {
		f32x16 acc[FLOAT_COLUMNS * TILE_VECTORS];

		tiles_ahead(d);
		UNROLL
		for (int i = 0; i < sums; i++)
			acc[i] = vf_zero();
		for (size_t n = residue_count(d->job->x->k, residue[u]); n; n--, w += KERNELS_ROWS, x += width) {
			f32x16 a[TILE_VECTORS];

			__builtin_prefetch(x + FLOAT_TILE_AHEAD * width, 0, 2);
			UNROLL
			for (int v = 0; v < vectors; v++)
				a[v] = vf_load(w + 16 * v);
			UNROLL
			for (int c = 0; c < columns; c++) {
				f32x16 b = vf_set1(x[c]);

				UNROLL
				for (int v = 0; v < vectors; v++)
					acc[c * vectors + v] = vf_fma(a[v], b, acc[c * vectors + v]);
			}
		}
		for (int odd = u; odd & 1; odd >>= 1, stack--) {
			UNROLL
			for (int i = 0; i < sums; i++)
				acc[i] = vf_add(stack[-1][i], acc[i]);
		}
		UNROLL
		for (int i = 0; i < sums; i++)
			stack[0][i] = acc[i];
	}
}

/* All rows of the panel, or only its first sixteen if there are no others: the first factors of adapters have few. */
INLINE void float_tile(int columns, int width, int vectors, struct tiling *d, const struct panel *p, size_t c)
{
	size_t computed = width == ACTS_COLUMNS || d->job->x->n - c > ACTS_STEP ? (size_t)width : ACTS_STEP;
	size_t rows = size_min(d->job->r1 - d->r, KERNELS_ROWS);
	const struct acts *x = d->job->x;
	f32x16 stack[5][FLOAT_COLUMNS * TILE_VECTORS];

	for (size_t at = 0; at < computed; at += (size_t)columns)
		for (size_t v = 0; v * 16 < rows; v += (size_t)vectors) {
			struct tile t = { c + at, (size_t)columns, d->r + v * 16, (size_t)vectors };

			open_tile(d, t);
			float_tile_run(columns, width, vectors, d, p, (const float *)p->data + v * 16,
			               (const float *)x->data + c * x->k + at, stack);
			close_tile(d, stack[0], t);
		}
}

static void float_kernel(struct tiling *d, const struct panel *p, size_t c)
{
	int wide = tile_width(c, d->job->x->n) == ACTS_COLUMNS, few = d->job->r1 - d->r <= 16;

	if (wide && few)
		float_tile(FLOAT_COLUMNS, ACTS_COLUMNS, 1, d, p, c);
	else if (wide)
		float_tile(FLOAT_COLUMNS, ACTS_COLUMNS, TILE_VECTORS, d, p, c);
	else if (few)
		float_tile(ACTS_STEP, ACTS_NARROW, 1, d, p, c);
	else
		float_tile(ACTS_STEP, ACTS_NARROW, TILE_VECTORS, d, p, c);
}

/* ---- rows of sixteen elements, such as those of the second factors of adapters ---- */

INLINE f32x16 short_four(const f32x16 w[4], const float *x, int width)
{
	f32x16 p[4];

	UNROLL
	for (int u = 0; u < 4; u++)
		p[u] = vf_fma(w[u], vf_set1(x[u * width]), vf_zero());
	return vf_add(vf_add(p[0], p[1]), vf_add(p[2], p[3]));
}

/* As float_tile(). Each accumulator has one product, so only the tree is left. The weights of sixteen rows stay in
 * registers. */
INLINE void short_tile(int width, struct tiling *d, const struct panel *p, size_t c)
{
	const struct acts *acts = d->job->x;
	size_t computed = size_min(acts->n - c, (size_t)width);

	for (size_t v = 0; v < KERNELS_ROWS && d->r + v < d->job->r1; v += 16) {
		const float *x = (const float *)acts->data + c * acts->k;
		f32x16 w[16];

		UNROLL
		for (int u = 0; u < 16; u++)
			w[u] = vf_load((const float *)p->data + v + u * (KERNELS_ROWS + FLOAT_GAP));
		for (size_t at = 0; at < computed; at++, x++) {
			f32x16 low = vf_add(short_four(w, x, width), short_four(w + 4, x + 4 * width, width));
			f32x16 high = vf_add(short_four(w + 8, x + 8 * width, width),
				short_four(w + 12, x + 12 * width, width));
			f32x16 sum = vf_add(low, high);

			close_tile(d, &sum, (struct tile){ c + at, 1, d->r + v, 1 });
		}
	}
}

static void short_kernel(struct tiling *d, const struct panel *p, size_t c)
{
	if (tile_width(c, d->job->x->n) == ACTS_COLUMNS)
		short_tile(ACTS_COLUMNS, d, p, c);
	else
		short_tile(ACTS_NARROW, d, p, c);
}

#endif
