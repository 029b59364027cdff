/* attend_sums: the three loops of attention over floats, for a panel of queries and a block of positions: scores,
 * softmax, sums over V. Included once by each instruction set's file, which defines before
 *	ATTEND_RESIDUES residues modulo 16 whose sums of scores lie in registers at once: 1, 2 or 4
 *	ATTEND_VECTORS  vectors of a row of V whose sums lie in registers at once */
#ifndef ATTEND_SUMS_H
#define ATTEND_SUMS_H

#include <math.h>

#include "cache.h"
#include "elementwise.h"

enum { ATTEND_COLUMNS = 4 };    /* queries that share the loads of K and V in registers: a panel */

/* ---- scores ---- */

struct k_tile {                 /* a tile of K */
	const void *k, *ahead;  /* ahead: the same tile of the next block, to be prefetched */
};

/* acc[column] += q[column][d] · k[d]. */
INLINE void attend_products(enum kv_type type, size_t width, const float *q, const struct k_tile *k, size_t d,
	f32x16 *acc)
{
	f32x16 key = attend_load(type, k->k, d * KV_TILE);

	UNROLL
	for (size_t c = 0; c < width; c++)
		acc[c] = vf_fma(vf_set1(q[d * width + c]), key, acc[c]);
}

/* sum[column] = the accumulators r, r + 4, r + 8, r + 12 of each product, added as the closing tree does;
 * ATTEND_RESIDUES of the four at a time. */
INLINE void attend_quarter(enum kv_type type, size_t width, const float *q, const struct k_tile *k, size_t dim,
	size_t r, f32x16 *sum)
{
	const size_t step = 4 * KV_TILE * attend_size(type);    /* bytes for every 16 elements of a quarter */
	f32x16 acc[4][ATTEND_COLUMNS];

	UNROLL
	for (size_t first = 0; first < 4; first += ATTEND_RESIDUES) {
		const size_t last = first + ATTEND_RESIDUES - 1;
		size_t d = r;

		UNROLL
		for (size_t i = 0; i < ATTEND_RESIDUES * width; i++)
			acc[first + i / width][i % width] = vf_zero();
		for (; d + 4 * last < dim; d += 16) {
			if (type != KV_F32 && first == 0)       /* floats are usually the copy */
				attend_ahead((const char *)k->ahead + (r * (dim / 16) + d / 16) * step, step);
			UNROLL
			for (size_t u = first; u <= last; u++)
				attend_products(type, width, q, k, d + 4 * u, acc[u]);
		}
		UNROLL
		for (size_t u = first; u < last; u++)
			if (d + 4 * u < dim)
				attend_products(type, width, q, k, d + 4 * u, acc[u]);
	}
	UNROLL
	for (size_t c = 0; c < width; c++)
		sum[c] = vf_add(vf_add(acc[0][c], acc[2][c]), vf_add(acc[1][c], acc[3][c]));
}

/* s[c][lane] = (q[c] · k[position]) · scale for one panel and the 16 positions of a tile. */
INLINE void attend_scores(enum kv_type type, size_t width, const float *q, const struct k_tile *k, size_t dim,
	float scale,
	float *s)
{
	f32x16 sum[4][ATTEND_COLUMNS];

	_Pragma("GCC unroll ATTEND_RESIDUES")   /* with few registers, unrolling spills */
	for (size_t r = 0; r < 4; r++)
		attend_quarter(type, width, q, k, dim, r, sum[r]);
	UNROLL
	for (size_t c = 0; c < width; c++) {
		f32x16 all = vf_add(vf_add(sum[0][c], sum[2][c]), vf_add(sum[1][c], sum[3][c]));

		vf_store(s + c * ATTEND_BLOCK, vf_mul(all, vf_set1(scale)));
	}
}

/* ---- softmax ---- */

static const float lane_numbers[LANES] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

/* Subtracts slope · |at + j| from score j. */
static void attend_bias(float *s, size_t n, float slope, float at)
{
	for (size_t j = 0; j < n; j += LANES) {
		f32x16 d = vf_add(vf_load(lane_numbers), vf_set1(at + (float)j));
		f32x16 distance = vf_min(d, vf_sub(vf_set1(0), d));

		vf_store(s + j, vf_fma(vf_set1(slope), distance, vf_load(s + j)));
	}
}

/* Adds bias j to score j. Reads biases up to the next multiple of LANES. */
static void attend_add(float *s, size_t n, const float *bias)
{
	for (size_t j = 0; j < n; j += LANES)
		vf_store(s + j, vf_add(vf_load(s + j), vf_load(bias + j)));
}

/* Score j = -inf outside [hidden, n), by whole vectors, since attend_softmax() loads such. */
static void attend_hide(float *s, size_t hidden, size_t n)
{
	const f32x16 lane = vf_load(lane_numbers), none = vf_set1(-INFINITY);

	for (size_t j = 0; j < hidden; j += LANES)
		vf_store(s + j, vf_select_less(lane, vf_set1((float)(hidden - j)), none, vf_load(s + j)));
	for (size_t j = n / LANES * LANES; j < ATTEND_BLOCK; j += LANES)
		vf_store(s + j, vf_select_less(lane, vf_set1((float)n - (float)j), vf_load(s + j), none));
}

/* Replaces scores s[columns][ATTEND_BLOCK] by their exponentials; max and sum are their maxima and the sums of the
 * exponentials. Where nothing is seen stands -inf, which is no maximum and whose exponential is 0. The maxima of all
 * columns come first, as exponentials wait for them. */
static void attend_softmax(float *s, size_t columns, float *max, float *sum)
{
	for (size_t c = 0; c < columns; c++) {
		f32x16 most = vf_set1(-INFINITY);

		UNROLL
		for (size_t j = 0; j < ATTEND_BLOCK; j += LANES)
			most = vf_max(vf_load(s + c * ATTEND_BLOCK + j), most);
		max[c] = vf_largest(most);
	}
	for (size_t c = 0; c < columns; c++, s += ATTEND_BLOCK) {
		f32x16 acc = vf_zero(), most = vf_set1(max[c]);

		for (size_t j = 0; j < ATTEND_BLOCK; j += ATTEND_EXPS * LANES) {
			f32x16 p[ATTEND_EXPS];

			UNROLL
			for (size_t i = 0; i < ATTEND_EXPS; i++)
				p[i] = vf_sub(vf_load(s + j + i * LANES), most);
			vector_exps(p, ATTEND_EXPS, 1);
			UNROLL
			for (size_t i = 0; i < ATTEND_EXPS; i++) {
				acc = vf_add(acc, p[i]);
				vf_store(s + j + i * LANES, p[i]);
			}
		}
		sum[c] = vf_tree(acc);
	}
}

/* ---- sums over V ---- */

struct v_rows {                 /* rows of V: vector x of row j lies at x·apart + j·stride */
	const void *v, *ahead;  /* ahead: the same rows of the next block, to be prefetched */
	size_t stride, apart;
};

struct value_sums {             /* sums over V for a panel, and the positions [j0, j1) that they cover */
	const float *p;         /* [columns][ATTEND_BLOCK]: the weights */
	float *o;               /* [columns][out_dim] */
	size_t out_dim, j0, j1;
	int more;               /* adds to o; else the sums begin at zero */
};

/* o[c][0 .. 16·vectors) = or += the sum of p[c][j] · v[j] over j in [j0, j1), ascending. */
INLINE void attend_sums(enum kv_type type, size_t width, size_t vectors, struct v_rows v, struct value_sums s)
{
	f32x16 acc[ATTEND_COLUMNS * ATTEND_VECTORS];

	UNROLL
	for (size_t c = 0; c < width; c++)
		UNROLL
		for (size_t x = 0; x < vectors; x++)
			acc[c * vectors + x] = s.more ? vf_load(s.o + c * s.out_dim + x * LANES) : vf_zero();
	for (size_t j = s.j0; j < s.j1; j++) {
		f32x16 row[ATTEND_VECTORS];

		UNROLL
		for (size_t x = 0; x < vectors; x++)
			row[x] = attend_load(type, v.v, x * v.apart + j * v.stride);
		if (type != KV_F32)
			attend_ahead((const char *)v.ahead + j * v.stride * attend_size(type),
				vectors * LANES * attend_size(type));
		UNROLL
		for (size_t c = 0; c < width; c++) {
			f32x16 weight = vf_set1(s.p[c * ATTEND_BLOCK + j]);

			UNROLL
			for (size_t x = 0; x < vectors; x++)
				acc[c * vectors + x] = vf_fma(weight, row[x], acc[c * vectors + x]);
		}
	}
	UNROLL
	for (size_t c = 0; c < width; c++)
		UNROLL
		for (size_t x = 0; x < vectors; x++)
			vf_store(s.o + c * s.out_dim + x * LANES, acc[c * vectors + x]);
}

INLINE struct v_rows attend_values(struct v_rows v, enum kv_type type, size_t vector)
{
	v.v = (const char *)v.v + vector * v.apart * attend_size(type);
	if (type != KV_F32)
		v.ahead = (const char *)v.ahead + vector * v.apart * attend_size(type);
	return v;
}

/* Near the diagonal the last columns of a panel see a few positions more than the first: these are added here. */
INLINE void attend_rest(enum kv_type type, size_t vectors, struct v_rows v, struct value_sums s)
{
	for (size_t x = 0; x < vectors; x++, s.o += LANES)
		attend_sums(type, 1, 1, attend_values(v, type, x), s);
}

#endif
