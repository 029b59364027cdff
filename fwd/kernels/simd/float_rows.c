/* float_rows: products of float weights, and of quantised ones with activations that stay floats, with few columns. */
#include <string.h>

#include "lib/base/size.h"
#include "acts.h"
#include "few.h"
#include "product.h"
#include "widen.h"

/* Elements past the last multiple of sixteen are read from a copy that is filled up with zeros. */
INLINE void few_rows(struct floats f, struct product_job j, size_t r, int rows, size_t c0, int columns, size_t far,
	const uint8_t *next)
{
	size_t k = j.w->cols, whole = k / 16 * 16, padded = (k + 15) / 16 * 16;
	const float *x = (const float *)j.x->data + c0 * padded;
	struct row_set set = { .start = (const uint8_t *)j.w->data + r * j.w->row_bytes, .rows = (size_t)rows,
		.row_bytes = j.w->row_bytes,
		.far = far, .near = FLOAT_NEAR };
	f32x16 acc[FLOAT_ROWS][FLOAT_SIDE];
	const uint8_t *row[FLOAT_ROWS];
	uint8_t rest[FLOAT_ROWS][64] = { { 0 } };

	UNROLL
	for (int i = 0; i < rows; i++) {
		row[i] = set.start + (size_t)i * j.w->row_bytes;
		if (whole < k)
			memcpy(rest[i], row[i] + whole * f.size, (k - whole) * f.size);
		UNROLL
		for (int c = 0; c < columns; c++)
			acc[i][c] = vf_zero();
	}
	for (size_t e = 0; e < whole; e += 16) {
		int ahead = far && begins_line(f.size, e);

		if (next)
			__builtin_prefetch(next + e * 4, 0, 2);
		UNROLL
		for (int i = 0; i < rows; i++)
			if (ahead)
				prefetch_side(set, (size_t)i, e * f.size, 64);
		UNROLL
		for (int i = 0; i < rows; i++) {
			f32x16 v = f.read(row[i] + e * f.size);

			UNROLL
			for (int c = 0; c < columns; c++)
				acc[i][c] = vf_fma(v, vf_load(x + (size_t)c * padded + e), acc[i][c]);
		}
	}
	UNROLL
	for (int i = 0; i < rows; i++) {
		UNROLL
		for (int c = 0; c < columns; c++) {
			if (whole < k)
				acc[i][c] = vf_fma(f.read(rest[i]), vf_load(x + (size_t)c * padded + whole), acc[i][c]);
			j.y[(c0 + (size_t)c) * j.stride + r + (size_t)i] = vf_tree(acc[i][c]);
		}
	}
}

#define DECODE_FLOATS(id, NAME, name, bytes) \
	static void decode_##name(const struct product_job *j) \
	{ \
		few_columns((struct floats){ floats_##name, bytes }, *j, NULL); \
	}
FORMATS_FLOAT(DECODE_FLOATS)

/* y[32 · blocks]: up to sixteen blocks of a span. */
INLINE void widen_blocks(struct widening t, const struct wide_span *s, size_t blocks, float *y)
{
	if (blocks == SPAN_BLOCKS) {
		UNROLL
		for (size_t i = 0; i < 2 * SPAN_BLOCKS; i++)
			vf_store(y + 16 * i, widen_half(t, s, i / 2, i % 2));
		return;
	}
	for (size_t i = 0; i < 2 * blocks; i++)
		vf_store(y + 16 * i, widen_half(t, s, i / 2, i % 2));
}

INLINE void widen_unpacked(struct widening t, const struct unpacked *u, size_t blocks, float *y)
{
	struct wide_span s;

	open_wide(t, (const uint8_t *)u->codes, &u->s, &s);
	widen_blocks(t, &s, blocks, y);
}

/* The same. A whole span is read. */
static void widen_span(const struct format *f, const uint8_t *span, size_t blocks, float *y)
{
	struct wide_span s;
	struct unpacked u;

	if (f->id == FORMAT_Q8_0) {
		scales_q8_0(span, &u.s);
		open_wide(widening_q8_0(), span, &u.s, &s);
		widen_blocks(widening_q8_0(), &s, blocks, y);
		return;
	}
	span_types[f->id].unpack(span, &u);
	if (f->minima)
		widen_unpacked(widening_unpacked(f, 1), &u, blocks, y);
	else
		widen_unpacked(widening_unpacked(f, 0), &u, blocks, y);
}

/* y[n][cols]: rows [r, r + n), which lie one behind the other, as one run of spans. The last span is copied where it
 * passes the end of the matrix, as the mapping may end there, too. */
static void widen_rows(const struct matrix *w, size_t r, size_t n, float *y)
{
	const struct format *f = w->format;
	size_t bytes = span_types[f->id].bytes, blocks = n * (w->cols / 32);
	const uint8_t *from = (const uint8_t *)w->data + r * w->row_bytes;
	const uint8_t *end = (const uint8_t *)w->data + w->rows * w->row_bytes;
	uint8_t copy[SPAN_BLOCKS * BLOCK_BYTES_MOST] = { 0 };

	for (; blocks; from += bytes, y += SPAN) {
		size_t some = blocks < SPAN_BLOCKS ? blocks : SPAN_BLOCKS;
		int passes = (size_t)(end - from) < bytes;

		widen_span(f, passes ? memcpy(copy, from, (size_t)(end - from)) : from, some, y);
		blocks -= some;
	}
}

/* Quantised weights, a few rows at a time: widened, they stay in the cache. The next rows are prefetched while these
 * are multiplied (Intel, Q8_0, 8 columns: 0.89 of the time against prefetching them while rows are widened). */
static void decode_widened(const struct product_job *j)
{
	size_t cols = j->w->cols, n;
	const uint8_t *next = (const uint8_t *)j->w->data + j->r0 * j->w->row_bytes;
	const struct matrix wide = { .format = format_of(FORMAT_F32), .data = j->scratch, .rows = FLOAT_ROWS,
		.cols = cols, .row_bytes = cols * sizeof(float) };
	struct product_job part = *j;

	part.w = &wide;
	part.r0 = 0;
	for (size_t r = j->r0; r < j->r1; r += n) {
		n = size_min(j->r1 - r, FLOAT_ROWS);
		widen_rows(j->w, r, n, j->scratch);
		part.r1 = n;
		part.y = j->y + r;
		next += n * j->w->row_bytes;
		few_columns((struct floats){ floats_f32, sizeof(float) }, part, next);
	}
}

void product_floats(const struct product_job *j)
{
#define ENTRY(id, NAME, name, ...) [id] = decode_##name,
	static void (*const floats[FORMAT_LIMIT])(const struct product_job *) = { FORMATS_FLOAT(ENTRY) };

	(j->w->format->widen ? floats[j->w->format->id] : decode_widened)(j);
}
