/* attend: the attention of scalar_attend.c in the vector vocabulary; included once by each instruction set's file, which sets before
 *	ATTEND_RESIDUES residues modulo 16 whose sums of scores lie in registers at once: 1, 2 or 4
 *	ATTEND_VECTORS  vectors of a row of V whose sums lie in registers at once
 *	ATTEND_AHEAD    bytes from a load to the line it asks for
 *
 * A query is one head of one row: a column. The columns of a KV head's group read the same K and V; a tile of rows has rows · group of them.
 * Each block of ATTEND_BLOCK positions goes through the same steps: scores [columns][ATTEND_BLOCK] into scratch, softmax of each column there,
 * sums over V into the block's part, and the part is merged into what the blocks before it left. Few columns (a step of decode) read K and V
 * where they lie, widening (and scaling) as they load; many (a prompt) read a copy of the block in floats, which stays in the cache for all of them.
 *
 * A column's sums hold only what it may see: scores of later positions are computed where a vector covers them too, but each lies in a lane of
 * its own and is overwritten before anything reads it; later rows of V are never read for it. So neither NaN nor infinity there reaches a
 * result. */
#ifndef ATTEND_H
#define ATTEND_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "elementwise.h"
#include "kernels.h"
#include "lanes.h"

enum {
	ATTEND_MOST = 256,      /* columns of a tile of rows (one row may have more heads) */
	ATTEND_COLUMNS = 4,     /* queries that share the loads of K and V in registers: a panel */
	ATTEND_DIRECT = 2 * ATTEND_COLUMNS      /* up to so many columns read K and V in place */
};

struct attend_state {   /* what a block, or all blocks so far, say of each column */
	float *max, *sum;       /* [columns] */
	float *o;               /* [columns][dim_v rounded up to LANES] */
};

struct attend_tile {
	const struct attend *a;
	const struct kv_head *kv;
	size_t row, group;      /* the first row; columns of a row */
	size_t columns;
	size_t width, panels;   /* the columns lie in panels of so many, the last filled up with zeros */
	size_t out_dim;         /* dim_v rounded up to LANES */
	int direct;             /* K and V are read in place */
	float *q;               /* [panels][dim_k][width] */
	float *s;               /* [columns of the panels][ATTEND_BLOCK]: scores, then their exponentials */
	struct attend_state all, part;
	float *keep, *take;     /* [columns]: the factors of a merge */
	float *k;               /* a block of K: [ATTEND_BLOCK/16][dim_k][16] */
	float *v;               /* a block of V: [out_dim/16][ATTEND_BLOCK][16] */
	float *k_scale;         /* q8_0, of this block: [ATTEND_BLOCK/16][blocks of dim_k][16] */
	float *v_scale;         /* [blocks of dim_v][ATTEND_BLOCK] */
};

/* ---- the cache ---- */

/* The first n elements from x on, n up to LANES; zeros after them. */
static f32x16 attend_some(const float *x, size_t n)
{
	return n < LANES ? vf_load_n(x, n) : vf_load(x);
}

/* x[n], n up to LANES, as halves `apart` from each other. */
static void store_halves(const float *x, size_t n, uint16_t *to, size_t apart)
{
	uint16_t half[LANES];

	vf_store_f16(half, attend_some(x, n));
	for (size_t i = 0; i < n; i++)
		to[i * apart] = half[i];
}

/* x[n], n up to KV_BLOCK, as codes `apart` from each other, and their scale. */
static void store_block(const float *x, size_t n, int8_t *code, size_t apart, uint16_t *scale)
{
	const f32x16 zero = vf_zero(), top = vf_set1(127), bottom = vf_set1(-127), magic = vf_set1(0x1.8p23f);
	f32x16 v[2] = { attend_some(x, n < LANES ? n : LANES), n > LANES ? attend_some(x + LANES, n - LANES) : zero };
	f32x16 most = vf_max(vf_max(v[0], vf_sub(zero, v[0])), vf_max(v[1], vf_sub(zero, v[1])));
	/* infinity and NaN less themselves are NaN */
	int finite = vf_tree(vf_add(vf_sub(v[0], v[0]), vf_sub(v[1], v[1]))) == 0;
	int32_t bits[2 * LANES] = { 0 };
	float d;

	*scale = kv_scale(finite ? vf_largest(most) : INFINITY);
	d = f16_to_f32(*scale);
	for (size_t h = 0; h < 2 && d > 0; h++)
		vi_store(bits + h * LANES, vf_as_int(vf_add(vf_max(vf_min(vf_div(v[h], vf_set1(d)), top), bottom), magic)));
	for (size_t i = 0; i < n; i++)
		code[i * apart] = (int8_t)bits[i];      /* the low byte of n + 1.5·2^23 is that of n */
}

static size_t attend_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void vector_kv_store(enum kv_type type, struct kv_head *kv, size_t dim_k, size_t dim_v, size_t pos, const float *k, const float *v)
{
	size_t k0 = pos / KV_TILE * dim_k * KV_TILE + pos % KV_TILE, v0 = pos * dim_v;

	if (type == KV_F32) {
		for (size_t d = 0; d < dim_k; d++)
			((float *)kv->k)[k0 + d * KV_TILE] = k[d];
		memcpy((float *)kv->v + v0, v, dim_v * sizeof *v);
		return;
	}
	if (type == KV_F16) {
		for (size_t d = 0; d < dim_k; d += LANES)
			store_halves(k + d, attend_least(LANES, dim_k - d), (uint16_t *)kv->k + k0 + d * KV_TILE, KV_TILE);
		for (size_t d = 0; d < dim_v; d += LANES)
			store_halves(v + d, attend_least(LANES, dim_v - d), (uint16_t *)kv->v + v0 + d, 1);
		return;
	}
	for (size_t d = 0; d < dim_k; d += KV_BLOCK)
		store_block(k + d, attend_least(KV_BLOCK, dim_k - d), (int8_t *)kv->k + k0 + d * KV_TILE, KV_TILE,
			kv->k_scale + kv_scale_index(dim_k, pos, d / KV_BLOCK));
	for (size_t d = 0; d < dim_v; d += KV_BLOCK)
		store_block(v + d, attend_least(KV_BLOCK, dim_v - d), (int8_t *)kv->v + v0 + d, 1, kv->v_scale + kv_scale_index(dim_v, pos, d / KV_BLOCK));
}

/* Bytes of an element. */
INLINE size_t attend_size(enum kv_type type)
{
	return type == KV_F16 ? sizeof(uint16_t) : type == KV_F32 ? sizeof(float) : sizeof(int8_t);
}

/* Elements from i on: the numbers; of q8_0 the codes, yet to be multiplied by their scales. */
INLINE f32x16 attend_load(enum kv_type type, const void *from, size_t i)
{
	if (type == KV_F16)
		return vf_load_f16((const uint16_t *)from + i);
	return type == KV_F32 ? vf_load((const float *)from + i) : vf_load_i8((const int8_t *)from + i);
}

static f32x16 attend_load_n(enum kv_type type, const void *from, size_t i, size_t n)
{
	float some[LANES] = { 0 };

	memcpy(some, (const char *)from + i * attend_size(type), n * attend_size(type));
	return attend_load(type, some, 0);
}

/* Asks for so many bytes, which will be read a while later. */
INLINE void attend_ahead(const char *from, size_t bytes)
{
	UNROLL
	for (size_t i = 0; i < bytes; i += 64)
		__builtin_prefetch(from + i, 0, 2);
}

/* ---- scores ---- */

struct keys {                   /* a tile of K */
	const void *k;
	const float *scale;     /* q8_0: [blocks][16] */
};

/* acc[column] += q[column][d] · k[d]. */
INLINE void attend_products(enum kv_type type, size_t width, const float *q, const struct keys *k, size_t d, f32x16 *acc)
{
	f32x16 key = attend_load(type, k->k, d * KV_TILE);

	if (type == KV_Q8_0)
		key = vf_mul(key, vf_load(k->scale + d / KV_BLOCK * KV_TILE));
	UNROLL
	for (size_t c = 0; c < width; c++)
		acc[c] = vf_fma(vf_set1(q[d * width + c]), key, acc[c]);
}

/* sum[column] = the accumulators r, r + 4, r + 8, r + 12 of each product, added as the closing tree does; ATTEND_RESIDUES of the four at a time. */
INLINE void attend_quarter(enum kv_type type, size_t width, const float *q, const struct keys *k, size_t dim, size_t r, f32x16 *sum)
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
			if (type != KV_F32 && first == 0)       /* floats mostly are the copy */
				attend_ahead((const char *)k->k + (r * (dim / 16) + d / 16) * step + ATTEND_AHEAD, step);
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
INLINE void attend_scores(enum kv_type type, size_t width, const float *q, const struct keys *k, size_t dim, float scale, float *s)
{
	f32x16 sum[4][ATTEND_COLUMNS];

	_Pragma("GCC unroll ATTEND_RESIDUES")   /* where registers are few, unrolling makes them fewer */
	for (size_t r = 0; r < 4; r++)
		attend_quarter(type, width, q, k, dim, r, sum[r]);
	UNROLL
	for (size_t c = 0; c < width; c++) {
		f32x16 all = vf_add(vf_add(sum[0][c], sum[2][c]), vf_add(sum[1][c], sum[3][c]));

		vf_store(s + c * ATTEND_BLOCK, vf_mul(all, vf_set1(scale)));
	}
}

/* ---- softmax ---- */

/* Of n scores: their maximum, the exponentials in their place, the sum of those. Lanes past the end hold -inf, which is no maximum and
 * whose exponential adds nothing. */
static void attend_softmax(float *s, size_t n, float *max, float *sum)
{
	f32x16 most = vf_set1(-INFINITY), acc = vf_zero();

	for (size_t j = n; j % LANES; j++)
		s[j] = -INFINITY;
	for (size_t j = 0; j < n; j += LANES)
		most = vf_max(vf_load(s + j), most);
	*max = vf_largest(most);
	most = vf_set1(*max);
	for (size_t j = 0; j < n; j += LANES) {
		f32x16 p = vector_exp_low(vf_sub(vf_load(s + j), most));

		acc = vf_add(acc, p);
		vf_store(s + j, p);
	}
	*sum = vf_tree(acc);
}

/* ---- sums over V ---- */

struct values {                 /* rows of V: vector x of row j lies at x·apart + j·stride */
	const void *v;
	size_t stride, apart;
	const float *scale;     /* q8_0: [blocks][ATTEND_BLOCK], from the block of vector 0 on */
};

/* o[c][0 .. 16·vectors) += p[c][j] · v[j] for j in [j0, j1), ascending; from zero where j0 is 0. */
INLINE void attend_sums(enum kv_type type, size_t width, size_t vectors, const float *p, struct values v, size_t j0, size_t j1, float *o,
	size_t out_dim)
{
	f32x16 acc[ATTEND_COLUMNS * ATTEND_VECTORS];

	UNROLL
	for (size_t c = 0; c < width; c++)
		UNROLL
		for (size_t x = 0; x < vectors; x++)
			acc[c * vectors + x] = j0 ? vf_load(o + c * out_dim + x * LANES) : vf_zero();
	for (size_t j = j0; j < j1; j++) {
		f32x16 row[ATTEND_VECTORS];

		UNROLL
		for (size_t x = 0; x < vectors; x++)
			row[x] = attend_load(type, v.v, x * v.apart + j * v.stride);
		UNROLL
		for (size_t x = 0; x < vectors && type == KV_Q8_0; x++)
			row[x] = vf_mul(row[x], vf_set1(v.scale[x * LANES / KV_BLOCK * ATTEND_BLOCK + j]));
		if (type != KV_F32)
			attend_ahead((const char *)v.v + j * v.stride * attend_size(type) + ATTEND_AHEAD, vectors * LANES * attend_size(type));
		UNROLL
		for (size_t c = 0; c < width; c++) {
			f32x16 weight = vf_set1(p[c * ATTEND_BLOCK + j]);

			UNROLL
			for (size_t x = 0; x < vectors; x++)
				acc[c * vectors + x] = vf_fma(weight, row[x], acc[c * vectors + x]);
		}
	}
	UNROLL
	for (size_t c = 0; c < width; c++)
		UNROLL
		for (size_t x = 0; x < vectors; x++)
			vf_store(o + c * out_dim + x * LANES, acc[c * vectors + x]);
}

INLINE struct values attend_values(struct values v, enum kv_type type, size_t vector)
{
	v.v = (const char *)v.v + vector * v.apart * attend_size(type);
	if (type == KV_Q8_0)
		v.scale += vector * LANES / KV_BLOCK * ATTEND_BLOCK;
	return v;
}

/* The last columns of a diagonal see a few positions more than the first of their panel: those are added alone. */
INLINE void attend_rest(enum kv_type type, size_t vectors, const float *p, struct values v, size_t j0, size_t j1, float *o)
{
	for (size_t x = 0; x < vectors; x++)
		attend_sums(type, 1, 1, p, attend_values(v, type, x), j0, j1, o + x * LANES, 0);
}

/* ---- a block of positions for a tile of rows ---- */

/* Positions of the block at `first` that column c sees. */
static inline size_t attend_seen(const struct attend_tile *t, size_t c, size_t first)
{
	size_t n = t->a->pos + t->row + c / t->group + 1;

	return n <= first ? 0 : n - first < ATTEND_BLOCK ? n - first : ATTEND_BLOCK;
}

/* The first column that sees anything of it. */
static inline size_t attend_first(const struct attend_tile *t, size_t first)
{
	size_t pos = t->a->pos + t->row;

	return first <= pos ? 0 : (first - pos) * t->group;
}

/* Makes the block's part for every column that sees it. k is the block's first tile, v its first row; type and width are constants where this is
 * expanded. */
INLINE void attend_block(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type, size_t width,
	struct keys k, struct values v)
{
	size_t dim_k = t->a->dim_k;
	size_t begin = attend_first(t, first), panel = begin / width * width, most = attend_seen(t, t->columns - 1, first);

	for (size_t j = 0; j < most; j += KV_TILE) {
		struct keys keys = { .k = (const char *)k.k + j * dim_k * attend_size(type), .scale = type == KV_Q8_0 ? k.scale + kv_scale_index(dim_k, j, 0) : NULL };

		for (size_t c = attend_first(t, first + j) / width * width; c < t->columns; c += width)
			attend_scores(type, width, t->q + c * dim_k, &keys, dim_k, t->a->scale, t->s + c * ATTEND_BLOCK + j);
	}
	for (size_t c = begin; c < t->columns; c++)
		attend_softmax(t->s + c * ATTEND_BLOCK, attend_seen(t, c, first), &part->max[c], &part->sum[c]);
	for (size_t x = 0, vectors; x < t->out_dim / LANES; x += vectors) {
		struct values rows = attend_values(v, type, x);

		vectors = x + ATTEND_VECTORS <= t->out_dim / LANES ? ATTEND_VECTORS : 1;
		for (size_t c = panel; c < t->columns; c += width) {
			size_t joint = attend_seen(t, c, first), end = c + width < t->columns ? c + width : t->columns;
			const float *p = t->s + c * ATTEND_BLOCK;
			float *o = part->o + c * t->out_dim + x * LANES;

			if (vectors > 1)
				attend_sums(type, width, ATTEND_VECTORS, p, rows, 0, joint, o, t->out_dim);
			else
				attend_sums(type, width, 1, p, rows, 0, joint, o, t->out_dim);
			for (size_t i = c; i < end; i++)
				if (attend_seen(t, i, first) > joint)
					attend_rest(type, vectors, p + (i - c) * ATTEND_BLOCK, rows, joint, attend_seen(t, i, first), o + (i - c) * t->out_dim);
		}
	}
}

/* The scales of what the tile sees of a block, as floats. */
static void attend_scales(const struct attend_tile *t, size_t first)
{
	size_t n = attend_seen(t, t->columns - 1, first), keys = kv_blocks(t->a->dim_k) * KV_TILE, values = kv_blocks(t->a->dim_v);

	for (size_t j = 0; j < n; j += KV_TILE) {
		const uint16_t *k = t->kv->k_scale + kv_scale_index(t->a->dim_k, first + j, 0), *v = t->kv->v_scale + kv_scale_index(t->a->dim_v, first + j, 0);

		for (size_t i = 0; i < keys; i += LANES)
			vf_store(t->k_scale + j / KV_TILE * keys + i, vf_load_f16(k + i));
		for (size_t b = 0; b < values; b++)
			vf_store(t->v_scale + b * ATTEND_BLOCK + j, vf_load_f16(v + b * KV_TILE));
	}
}

/* Copies what the tile sees of a block, as floats: K as it is, V by vectors, [out_dim/16][ATTEND_BLOCK][16], whose lanes past dim_v are zero.
 * Asks for the next block, which there will be time for until it is copied. */
INLINE void attend_copy(const struct attend_tile *t, size_t first, enum kv_type type)
{
	const struct attend *a = t->a;
	size_t n = attend_seen(t, t->columns - 1, first);

	for (size_t j = 0; j < n; j += KV_TILE)
		for (size_t d = 0; d < a->dim_k; d++) {
			size_t at = j * a->dim_k + d * KV_TILE;
			f32x16 x = attend_load(type, t->kv->k, first * a->dim_k + at);

			if (type == KV_Q8_0)
				x = vf_mul(x, vf_load(t->k_scale + kv_scale_index(a->dim_k, j, d / KV_BLOCK)));
			vf_store(t->k + at, x);
			attend_ahead((const char *)t->kv->k + ((first + ATTEND_BLOCK) * a->dim_k + at) * attend_size(type), LANES);
		}
	for (size_t j0 = 0; j0 < n; j0 += KV_TILE)
		for (size_t d = 0; d < a->dim_v; d += LANES)
			for (size_t j = j0; j < n && j < j0 + KV_TILE; j++) {
				size_t at = (first + j) * a->dim_v + d;
				f32x16 x = d + LANES <= a->dim_v ? attend_load(type, t->kv->v, at) : attend_load_n(type, t->kv->v, at, a->dim_v - d);

				if (type == KV_Q8_0)
					x = vf_mul(x, vf_set1(t->v_scale[d / KV_BLOCK * ATTEND_BLOCK + j]));
				vf_store(t->v + d * ATTEND_BLOCK + j * LANES, x);
				attend_ahead((const char *)t->kv->v + (at + ATTEND_BLOCK * a->dim_v) * attend_size(type), LANES);
			}
}

INLINE void attend_panel(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type, struct keys k, struct values v)
{
	switch (t->width) {
	case 1: attend_block(t, first, part, type, 1, k, v); break;
	case 2: attend_block(t, first, part, type, 2, k, v); break;
	case 3: attend_block(t, first, part, type, 3, k, v); break;
	default: attend_block(t, first, part, type, ATTEND_COLUMNS, k, v); break;
	}
}

/* Any block of K and V of this type: where they lie, or as floats that the copy holds. */
INLINE void attend_typed(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type)
{
	const struct attend *a = t->a;

	if (type == KV_Q8_0)
		attend_scales(t, first);
	if (t->direct) {
		struct keys k = { .k = (const char *)t->kv->k + first * a->dim_k * attend_size(type), .scale = t->k_scale };
		struct values v = { (const char *)t->kv->v + first * a->dim_v * attend_size(type), a->dim_v, LANES, t->v_scale };

		attend_panel(t, first, part, type, k, v);
	} else
		attend_copy(t, first, type);
}

/* Any block: the part of each column that sees it. */
static void attend_part(const struct attend_tile *t, size_t first, struct attend_state *part)
{
	switch (t->a->type) {
	case KV_F16: attend_typed(t, first, part, KV_F16); break;
	case KV_F32: attend_typed(t, first, part, KV_F32); break;
	default: attend_typed(t, first, part, KV_Q8_0); break;
	}
	if (!t->direct)
		attend_panel(t, first, part, KV_F32, (struct keys){ .k = t->k }, (struct values){ t->v, LANES, ATTEND_BLOCK * LANES, NULL });
}

/* Takes the part of the block at `first` into what the blocks before it left. */
static void attend_merge(const struct attend_tile *t, size_t first, const struct attend_state *part)
{
	for (size_t c = attend_first(t, first); c < t->columns; c += LANES) {
		f32x16 before = vf_load(t->all.max + c), now = vf_load(part->max + c), max = vf_max(before, now);
		f32x16 keep = vector_exp_low(vf_sub(before, max)), take = vector_exp_low(vf_sub(now, max));

		vf_store(t->all.max + c, max);
		vf_store(t->all.sum + c, vf_fma(vf_load(t->all.sum + c), keep, vf_mul(vf_load(part->sum + c), take)));
		vf_store(t->keep + c, keep);
		vf_store(t->take + c, take);
	}
	for (size_t c = attend_first(t, first); c < t->columns; c++) {
		f32x16 keep = vf_set1(t->keep[c]), take = vf_set1(t->take[c]);

		for (size_t i = c * t->out_dim; i < (c + 1) * t->out_dim; i += LANES)
			vf_store(t->all.o + i, vf_fma(vf_load(t->all.o + i), keep, vf_mul(vf_load(part->o + i), take)));
	}
}

/* ---- tiles of rows ---- */

/* The widths of panels for so many columns. */
static void attend_panels(struct attend_tile *t, size_t columns)
{
	t->columns = columns;
	t->direct = columns <= ATTEND_DIRECT && t->a->dim_v % LANES == 0;
	t->panels = (columns + ATTEND_COLUMNS - 1) / ATTEND_COLUMNS;
	t->width = (columns + t->panels - 1) / t->panels;
}

static size_t attend_out_dim(size_t dim_v)
{
	return (dim_v + LANES - 1) / LANES * LANES;
}

/* Floats for a number of each column: whole vectors from any column on. */
static size_t attend_each(size_t columns)
{
	return (columns + LANES) / LANES * LANES + LANES;
}

/* Lays scratch out for tiles of up to `columns` columns, a multiple of ATTEND_COLUMNS; returns the number of floats. With NULL it only counts. */
static size_t attend_layout(struct attend_tile *t, float *scratch, size_t columns, size_t dim_k, size_t dim_v)
{
	size_t out_dim = attend_out_dim(dim_v), each = attend_each(columns), used = 0;
	struct { float **field; size_t n; } fields[] = {
		{ &t->k, ATTEND_BLOCK * dim_k }, { &t->v, ATTEND_BLOCK * out_dim }, { &t->s, columns * ATTEND_BLOCK },
		{ &t->k_scale, ATTEND_BLOCK * kv_blocks(dim_k) }, { &t->v_scale, ATTEND_BLOCK * kv_blocks(dim_v) },
		{ &t->all.o, columns * out_dim }, { &t->part.o, columns * out_dim }, { &t->q, (columns * dim_k + LANES - 1) / LANES * LANES },
		{ &t->all.max, each }, { &t->all.sum, each }, { &t->part.max, each }, { &t->part.sum, each }, { &t->keep, each }, { &t->take, each },
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; used += fields[i++].n)
		if (scratch)
			*fields[i].field = scratch + used;
	t->out_dim = out_dim;
	return used;
}

/* Columns with those that fill up the last panel, at most. */
static size_t attend_filled(size_t columns)
{
	return (columns + ATTEND_COLUMNS - 1) / ATTEND_COLUMNS * ATTEND_COLUMNS;
}

/* A tile has one row at least, and ATTEND_FEW where there are no more. */
static size_t attend_columns(size_t group)
{
	size_t most = ATTEND_FEW * group > ATTEND_MOST ? ATTEND_FEW * group : ATTEND_MOST;

	return attend_filled(most);
}

static size_t vector_attend_scratch(size_t dim_k, size_t dim_v, size_t group)
{
	struct attend_tile t;

	return attend_layout(&t, NULL, attend_columns(group), dim_k, dim_v) * sizeof(float);
}

/* The queries of KV head h, column by column, into panels. */
static void attend_pack(const struct attend_tile *t, size_t h)
{
	size_t dim_k = t->a->dim_k, width = t->width;

	for (size_t c = 0; c < t->panels * width; c++) {
		float *to = t->q + c / width * width * dim_k + c % width;
		const float *from = t->a->q + h * t->group * dim_k;

		if (c < t->columns)
			from += (t->row + c / t->group) * t->a->q_stride + c % t->group * dim_k;
		for (size_t d = 0; d < dim_k; d++)
			to[d * width] = c < t->columns ? from[d] : 0;
	}
}

static void attend_write(const struct attend_tile *t, size_t h)
{
	const struct attend *a = t->a;

	for (size_t c = 0; c < t->columns; c++) {
		float *out = a->out + ((t->row + c / t->group) * a->n_head + h * t->group + c % t->group) * a->dim_v;
		const float *o = t->all.o + c * t->out_dim;
		f32x16 sum = vf_set1(t->all.sum[c]);

		for (size_t d = 0; d + LANES <= a->dim_v; d += LANES)
			vf_store(out + d, vf_div(vf_load(o + d), sum));
		for (size_t d = a->dim_v / LANES * LANES; d < a->dim_v; d++)
			out[d] = o[d] / t->all.sum[c];
	}
}

static void vector_attend(const struct attend *a, const struct kv_head *kv, size_t h, size_t i0, size_t i1, void *scratch)
{
	struct attend_tile t = { .a = a, .kv = kv, .group = a->n_head / a->n_head_kv };
	size_t rows = t.group < ATTEND_MOST ? ATTEND_MOST / t.group : 1;

	attend_layout(&t, scratch, attend_columns(t.group), a->dim_k, a->dim_v);
	for (t.row = i0; t.row < i1; t.row += rows) {
		size_t n = i1 - t.row < rows ? i1 - t.row : rows, end = a->pos + t.row + n;

		attend_panels(&t, n * t.group);
		attend_pack(&t, h);
		attend_part(&t, 0, &t.all);
		for (size_t first = ATTEND_BLOCK; first < end; first += ATTEND_BLOCK) {
			attend_part(&t, first, &t.part);
			attend_merge(&t, first, &t.part);
		}
		attend_write(&t, h);
	}
}

/* ---- block by block ---- */

static size_t vector_attend_part(size_t dim_v, size_t columns)
{
	return (2 * attend_each(columns) + attend_filled(columns) * attend_out_dim(dim_v)) * sizeof(float);
}

static struct attend_state attend_state_at(const struct attend_tile *t, void *parts, size_t b)
{
	float *at = (float *)parts + b * vector_attend_part(t->a->dim_v, t->columns) / sizeof(float);
	size_t each = attend_each(t->columns);

	return (struct attend_state){ .max = at, .sum = at + each, .o = at + 2 * each };
}

/* All rows, as one tile. */
static void attend_few(struct attend_tile *t, size_t n, void *scratch)
{
	t->group = t->a->n_head / t->a->n_head_kv;
	attend_layout(t, scratch, attend_columns(t->group), t->a->dim_k, t->a->dim_v);
	attend_panels(t, n * t->group);
}

static void vector_attend_blocks(const struct attend *a, const struct kv_head *kv, size_t h, size_t n, size_t b0, size_t b1, void *parts, void *scratch)
{
	struct attend_tile t = { .a = a, .kv = kv };

	attend_few(&t, n, scratch);
	attend_pack(&t, h);
	for (size_t b = b0; b < b1; b++) {
		struct attend_state part = attend_state_at(&t, parts, b);

		attend_part(&t, b * ATTEND_BLOCK, &part);
	}
}

static void vector_attend_join(const struct attend *a, size_t h, size_t n, void *parts, void *scratch)
{
	struct attend_tile t = { .a = a };

	attend_few(&t, n, scratch);
	t.all = attend_state_at(&t, parts, 0);
	for (size_t first = ATTEND_BLOCK; first < a->pos + n; first += ATTEND_BLOCK) {
		struct attend_state part = attend_state_at(&t, parts, first / ATTEND_BLOCK);

		attend_merge(&t, first, &part);
	}
	attend_write(&t, h);
}

#endif
