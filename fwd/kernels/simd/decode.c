/* decode: products with few columns. The weights are read once, straight along their rows, a span of sixteen
 * blocks at a time, and the products of a span lie one in each lane: the lanes are the sixteen accumulators. Where
 * rows are read as one contiguous run (struct acts_copies), block b of a row is not in lane b mod 16 but rotated
 * by the same amount for every b; the closing tree then adds the same pairs. */
#include <string.h>

#include "acts.h"
#include "floats.h"
#include "product.h"
#include "unpack.h"

/* Prefetch distances in bytes: far into the second-level cache, because hardware prefetchers stop at page borders,
 * and near into the first. Share of the speed of a plain streaming read: with neither 0.83 (Q8_0, AMD), with the
 * far one alone 0.81 to 0.92 (an Intel core), with 8192 and 2048 0.90 to 0.95, with these 0.95 to 1.0. */
enum { PREFETCH_FAR = 12288, PREFETCH_NEAR = 4096 };

INLINE void prefetch(const uint8_t *p, size_t bytes)
{
	UNROLL
	for (size_t i = 0; i < bytes; i += 64) {
		__builtin_prefetch(p + PREFETCH_FAR + i, 0, 2);
		__builtin_prefetch(p + PREFETCH_NEAR + i, 0, 3);
	}
}

/* Bytes of the fewest whole sets of rows that reach PREFETCH_FAR. */
static inline size_t sets_ahead(size_t set)
{
	return (PREFETCH_FAR + set - 1) / set * set;
}

/* Rows of a set are read side by side. */
struct row_set {
	const uint8_t *start;
	size_t rows, row_bytes;
	size_t far;             /* sets_ahead(), or 0 where the rows are in the cache already */
	size_t near;            /* bytes ahead within each row */
};

/* For row i at its byte `at`: prefetches its share of a later set, whose bytes are taken straight along the
 * mapping, in the order that memory is fastest in, and what comes next in the row. */
INLINE void prefetch_side(struct row_set s, size_t i, size_t at, size_t bytes)
{
	UNROLL
	for (size_t b = 0; b < bytes; b += 64) {
		__builtin_prefetch(s.start + s.far + s.rows * at + i * bytes + b, 0, 2);
		__builtin_prefetch(s.start + i * s.row_bytes + at + s.near + b, 0, 3);
	}
}

/* ---- quantised weights ---- */

/* The codes of a span, for several columns. */
INLINE void span_codes(struct unpacker u, const uint8_t *p, b64 codes[SPAN_VECTORS])
{
	UNROLL
	for (int i = 0; i < SPAN_VECTORS; i++)
		if (!u.quarters)
			codes[i] = u.codes(p, i);
		else if (i % 2 == 0)
			u.quarters(p, i / 2, &codes[i]);
}

/* sum[plane][half]: the sums of products with a span's activations over the blocks' first and second halves.
 * codes: NULL to unpack them here. */
INLINE void half_sums(struct unpacker u, const uint8_t *p, const b64 *codes, const int8_t *x, int planes,
                      i32x16 sum[2][2])
{
	i32x16 v[2][SPAN_VECTORS];

	UNROLL
	for (int c = 0; c < SPAN_VECTORS; c++) {
		b64 w = codes ? codes[c] : u.codes(p, c);

		UNROLL
		for (int i = 0; i < planes; i++) {
			b64 q = vb_load(x + i * SPAN + 64 * c);

			v[i][c] = u.is_signed ? vd_dot_signed(w, q) : vd_dot(w, q, u.top);
			vd_fold_halves(v[i], c, u.top);
		}
	}
	UNROLL
	for (int i = 0; i < planes; i++)
		vd_half_sums(v[i], u.top, &sum[i][0], &sum[i][1]);
}

/* The same with quarters: sum[plane][0] is over whole blocks, sum[plane][1] is zero. */
INLINE void quarter_sums(struct unpacker u, const uint8_t *p, const b64 *codes, const int8_t *x, int planes,
                         i32x16 sum[2][2])
{
	i32x16 v[2][SPAN_VECTORS / 2];

	UNROLL
	for (int c = 0; c < SPAN_VECTORS / 2; c++) {
		b64 w[2];

		if (codes)
			w[0] = codes[2 * c], w[1] = codes[2 * c + 1];
		else
			u.quarters(p, c, w);
		UNROLL
		for (int i = 0; i < planes; i++) {
			const int8_t *q = x + i * SPAN + 128 * c;

			v[i][c] = vd_dot_two(w[0], vb_load(q), w[1], vb_load(q + 64));
			vd_fold_quarters(v[i], c);
		}
	}
	UNROLL
	for (int i = 0; i < planes; i++) {
		sum[i][0] = vd_quarter_sums(v[i]);
		sum[i][1] = vi_zero();
	}
}

INLINE i32x16 unbiased(i32x16 isum, const int32_t *xsum, int bias)
{
	return bias ? vi_sub(isum, vi_shl(vi_load(xsum), __builtin_ctz((unsigned)bias))) : isum;
}

INLINE void span_sums(struct unpacker u, const uint8_t *p, const b64 *codes, const struct acts_span *x, int planes,
                      i32x16 sum[2][2])
{
	const int8_t *q = (const int8_t *)(x + 1);

	if (u.quarters)
		quarter_sums(u, p, codes, q + planes * SPAN, planes, sum);
	else
		half_sums(u, p, codes, q, planes, sum);
}

/* The products of a span's blocks, before dx, from those sums. */
INLINE f32x16 span_product(struct unpacker u, i32x16 sum[2][2], const struct scales *s, const struct acts_span *x,
                           int planes)
{
	int bias = u.is_signed ? SIGNED_BIAS : u.offset;
	f32x16 t, none = vf_sub(s->scale[0], s->scale[0]);      /* zero, or NaN where the scale is not finite */
	i32x16 *isum = sum[0], *low = sum[1];

	if (planes == 2)
		for (int h = 0; h < 2; h++)
			isum[h] = vi_add(vi_sub(vi_shl(isum[h], 8), isum[h]), low[h]);
	if (u.scales == 2) {
		t = vf_fma(s->scale[0], vi_to_float(unbiased(isum[0], x->xsum[FIRST_HALF], bias)), none);
		t = vf_fma(s->scale[1], vi_to_float(unbiased(isum[1], x->xsum[SECOND_HALF], bias)), t);
		if (u.minima) {
			t = vf_fma(s->min[0], vf_load(x->fsum[FIRST_HALF]), t);
			t = vf_fma(s->min[1], vf_load(x->fsum[SECOND_HALF]), t);
		}
	} else {
		t = vf_fma(s->scale[0], vi_to_float(unbiased(vi_add(isum[0], isum[1]), x->xsum[WHOLE_BLOCK], bias)),
		           none);
		if (u.minima)
			t = vf_fma(s->min[0], vf_load(x->fsum[WHOLE_BLOCK]), t);
	}
	return t;
}

/* The same for a single column, which needs the codes only once: with DOT_AT_ONCE each vector of codes is
 * multiplied as soon as it is unpacked, and the scales are read last. */
INLINE f32x16 span_times_one(struct unpacker u, const uint8_t *p, const struct acts_span *x, int planes)
{
	b64 codes[SPAN_VECTORS];
	i32x16 sum[2][2];
	struct scales s;

	if (!DOT_AT_ONCE) {
		span_codes(u, p, codes);
		u.read_scales(p, &s);
	}
	span_sums(u, p, DOT_AT_ONCE ? NULL : codes, x, planes, sum);
	if (DOT_AT_ONCE)
		u.read_scales(p, &s);
	return span_product(u, sum, &s, x, planes);
}

/* Lanes of the span's blocks before b from v, the others from rest. */
INLINE f32x16 lanes_before(size_t b, f32x16 v, f32x16 rest)
{
	return vf_select_less(vf_load_i8((const int8_t *)lane_block), vf_set1((float)b), v, rest);
}

struct row_blocks {
	size_t n;               /* of a row */
	int contiguous;         /* see struct acts_copies */
};

/* The products of a span with one column: dx · t. */
struct span_sum {
	f32x16 t, dx;
};

/* Ends row *r, whose last block is before block b of the span, and any others that end in the same span; s, acc:
 * for each of n columns. Returns how many blocks the next row, which may have begun in the span, still has. */
INLINE size_t close_rows(const struct product_job *j, struct row_blocks blocks, size_t b, size_t *r, size_t n,
                         f32x16 *acc, const struct span_sum *s)
{
	for (size_t c = 0; c < n; c++)
		acc[c] = lanes_before(b, vf_fma(s[c].dx, s[c].t, acc[c]), acc[c]);
	for (;; b += blocks.n) {
		for (size_t c = 0; c < n; c++) {
			j->y[c * j->stride + *r] = vd_close(acc[c]);
			acc[c] = vf_zero();
		}
		if (++*r == j->r1 || b == SPAN_BLOCKS || !blocks.contiguous)
			return blocks.n;
		for (size_t c = 0; c < n; c++)
			acc[c] = lanes_before(b, acc[c], vf_fma(s[c].dx, s[c].t, acc[c]));
		if (blocks.n > SPAN_BLOCKS - b)
			return blocks.n - (SPAN_BLOCKS - b);
		for (size_t c = 0; c < n; c++)
			acc[c] = lanes_before(b + blocks.n, acc[c], vf_zero());
	}
}

/* one: x has a single column. */
INLINE void decode_columns(struct unpacker u, int planes, int one, const struct product_job *j)
{
	struct acts_copies copies = acts_copies(j->w->cols / 32);
	struct row_blocks blocks = { j->w->cols / 32, copies.contiguous };
	const uint8_t *start = j->w->data, *end = start + j->w->rows * j->w->row_bytes,
	        *p = start + j->r0 * j->w->row_bytes;
	size_t n = one ? 1 : j->x->n, step = acts_span_bytes(j->x->kind), column = copies.spans * step, at = 0,
	        left = blocks.n;
	/* the matrix's last blocks: the mapping may end behind them */
	uint8_t rest[SPAN_BLOCKS * BLOCK_BYTES_MOST] = { 0 };
	f32x16 acc[FEW];
	struct span_sum sums[FEW];

	UNROLL
	for (int c = 0; c < FEW; c++)
		acc[c] = vf_zero();
	for (size_t r = j->r0; r < j->r1;) {
		const uint8_t *span = (size_t)(end - p) >= u.bytes ? p : memcpy(rest, p, (size_t)(end - p));
		b64 codes[SPAN_VECTORS];
		struct scales s;

		prefetch(p, u.bytes);
		if (!one) {
			span_codes(u, span, codes);
			u.read_scales(span, &s);
		}
		for (size_t c = 0; c < n; c++) {
			const struct acts_span *x =
			        (const struct acts_span *)((const char *)j->x->data + at + c * column);
			i32x16 sum[2][2];

			if (one)
				sums[c].t = span_times_one(u, span, x, planes);
			else {
				span_sums(u, span, codes, x, planes, sum);
				sums[c].t = span_product(u, sum, &s, x, planes);
			}
			sums[c].dx = vf_load(x->dx);
		}
		p += u.bytes;
		at = at + step < column ? at + step : 0;
		if (left > SPAN_BLOCKS) {
			for (size_t c = 0; c < n; c++)
				acc[c] = vf_fma(sums[c].dx, sums[c].t, acc[c]);
			left -= SPAN_BLOCKS;
			continue;
		}
		left = close_rows(j, blocks, left, &r, n, acc, sums);
		if (!blocks.contiguous) {
			p = start + r * j->w->row_bytes;
			at = 0;
		}
	}
}

/* A single column and rows of whole spans, two rows side by side, which share the loads of the column. Returns the
 * first row that is left. (AVX-512, from memory: Q4_0 and Q4_K 1.08 times as fast as row by row, Q6_K 1.05; with
 * 16-bit activations 1.07 to 1.28.) */
INLINE size_t decode_pairs(struct unpacker u, int planes, struct product_job j)
{
	size_t spans = j.w->cols / SPAN, step = acts_span_bytes(j.x->kind), r = j.r0;
	struct row_set set = { .rows = 2, .row_bytes = j.w->row_bytes, .far = sets_ahead(2 * j.w->row_bytes),
		.near = PREFETCH_NEAR };

	for (; r + 2 <= j.r1; r += 2) {
		f32x16 acc[2] = { vf_zero(), vf_zero() };

		set.start = (const uint8_t *)j.w->data + r * j.w->row_bytes;
		for (size_t g = 0; g < spans; g++) {
			const struct acts_span *x = (const struct acts_span *)((const char *)j.x->data + g * step);

			UNROLL
			for (size_t i = 0; i < 2; i++) {
				const uint8_t *p = set.start + i * j.w->row_bytes + g * u.bytes;

				prefetch_side(set, i, g * u.bytes, u.bytes);
				acc[i] = vf_fma(vf_load(x->dx), span_times_one(u, p, x, planes), acc[i]);
			}
		}
		j.y[r] = vd_close(acc[0]);
		j.y[r + 1] = vd_close(acc[1]);
	}
	return r;
}

INLINE void decode_codes(struct unpacker u, struct product_job j)
{
	int pairs = u.rows == 2 && j.x->n == 1 && j.w->cols % SPAN == 0;

	if (j.x->kind == ACTS_Q16) {
		if (pairs)
			j.r0 = decode_pairs(u, 2, j);
		decode_columns(u, 2, 0, &j);
	} else if (j.x->n > 1) {
		decode_columns(u, 1, 0, &j);
	} else {
		/* With a byte or more a weight memory is the limit, and one stream of it is faster than two. */
		if (pairs && u.bytes <= SPAN)
			j.r0 = decode_pairs(u, 1, j);
		decode_columns(u, 1, 1, &j);
	}
}

/* ---- float weights ---- */

enum { FLOAT_NEAR = 2048 };     /* prefetch distance in each row, in bytes */

/* A float format. */
struct floats {
	float_reader *read;
	size_t size;            /* bytes of an element */
};

/* Rows from r on and columns from c0 on, so many of each that their sums stay in registers. Elements past the last
 * multiple of sixteen are read from a copy that is filled up with zeros. far: sets_ahead(), or 0 where the rows
 * are in the cache already. */
INLINE void float_rows(struct floats f, struct product_job j, size_t r, int rows, size_t c0, int columns, size_t far)
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

/* FLOAT_ROWS rows from r on and all columns, three or more, split evenly into turns; the rows stay in the
 * first-level cache meanwhile. */
INLINE void float_set(struct floats f, struct product_job j, size_t r)
{
	size_t turns = (j.x->n + FLOAT_SIDE - 1) / FLOAT_SIDE, far = sets_ahead(FLOAT_ROWS * j.w->row_bytes), c = 0;

	for (size_t turn = 0; turn < turns; turn++, far = 0) {
		size_t columns = j.x->n * (turn + 1) / turns - c;

		if (FLOAT_SIDE > 2 && columns == 2)
			float_rows(f, j, r, FLOAT_ROWS, c, 2, far);
		else if (FLOAT_SIDE > 3 && columns == 3)
			float_rows(f, j, r, FLOAT_ROWS, c, 3, far);
		else if (FLOAT_SIDE > 4 && columns == 4)
			float_rows(f, j, r, FLOAT_ROWS, c, 4, far);
		else if (FLOAT_SIDE > 5 && columns == 5)
			float_rows(f, j, r, FLOAT_ROWS, c, 5, far);
		else
			float_rows(f, j, r, FLOAT_ROWS, c, FLOAT_SIDE, far);
		c += columns;
	}
}

/* A single column goes row by row, unless it is longer than this and does not fit the first-level cache; two go
 * along two rows. Each row more is one more stream from memory (AVX-512, one thread, whole engine: one column
 * along two rows 0.9 of the speed, two along four 0.75). */
enum { FLOAT_LONG = 6144 };

INLINE void decode_floats(struct floats f, struct product_job j)
{
	size_t r = j.r0, far = sets_ahead(2 * j.w->row_bytes), far_1 = sets_ahead(j.w->row_bytes);

	if (j.x->n > 2)
		for (; r + FLOAT_ROWS <= j.r1; r += FLOAT_ROWS)
			float_set(f, j, r);
	else if (j.x->n == 2)
		for (; r + 2 <= j.r1; r += 2)
			float_rows(f, j, r, 2, 0, 2, far);
	else if (j.w->cols > FLOAT_LONG)
		for (; r + 2 <= j.r1; r += 2)
			float_rows(f, j, r, 2, 0, 1, far);
	for (; r < j.r1; r++)
		for (size_t c = 0; c < j.x->n; c++)
			float_rows(f, j, r, 1, c, 1, c ? 0 : far_1);
}

/* ---- any format ---- */

#define DECODE_FLOATS(id, NAME, name, bytes) \
	static void decode_##name(const struct product_job *j) \
	{ \
		decode_floats((struct floats){ floats_##name, bytes }, *j); \
	}
#define DECODE_CODES(id, NAME, name, ...) \
	static void decode_##name(const struct product_job *j) \
	{ \
		decode_codes(unpack_##name, *j); \
	}
FORMATS_FLOAT(DECODE_FLOATS)
FORMATS_QUANTISED(DECODE_CODES)

void product_few(const struct product_job *j)
{
#define ENTRY(id, NAME, name, ...) [id] = decode_##name,
	static void (*const decode[FORMAT_LIMIT])(const struct product_job *) =
	        { FORMATS_FLOAT(ENTRY) FORMATS_QUANTISED(ENTRY) };

	decode[j->w->format->id](j);
}
