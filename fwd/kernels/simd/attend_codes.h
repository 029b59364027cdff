/* attend_codes: attention over K and V in codes (scalar_codes.c), in integers: for each panel of queries and block of
 * positions the scores, their exponentials, these in bytes, and the sums over V. Included once by each instruction
 * set's file.
 *
 * K and V are read in place. Codes of positions that a query does not see are multiplied by zero, and so are those that
 * a vector covers after the last position; scales of such positions may be anything, even NaN. */
#ifndef ATTEND_CODES_H
#define ATTEND_CODES_H

#include <string.h>

#include "acts.h"
#include "attend_tile.h"
#include "pack.h"

enum { FOURS_BIAS = 8 };       /* what is added to values to get codes of four bits */

/* Of 64 bytes, the codes in the low and in the high bits. */
INLINE attend_codes codes_low(b64 v) { return va_small(vb_low(v)); }
INLINE attend_codes codes_high(b64 v) { return va_small(vb_shr(v, 4, 15)); }

/* ---- queries ---- */

/* Copies group i of the rotated queries, group after group and column after column, filled up with zeros. */
static void codes_take_group(const struct attend_tile *t, size_t i, float x[KV_SCALED])
{
	const struct attend *a = t->a;
	size_t c = i / t->groups, d = i % t->groups * KV_SCALED;

	memset(x, 0, KV_SCALED * sizeof *x);
	if (c < t->columns)
		memcpy(x, t->q + c * a->dim_k + d, size_min(KV_SCALED, a->dim_k - d) * sizeof *x);
}

/* Rotates and quantises the queries of KV head h, column by column. */
static void codes_pack(const struct attend_tile *t, size_t h)
{
	size_t n = t->panels * t->width * t->groups, dim = t->a->dim_k;
	int bias = t->a->type == KV_Q4_0 ? FOURS_BIAS : KEY_BIAS;

	for (size_t c = 0; c < t->columns; c++) {
		memcpy(t->q + c * dim, t->a->q + (t->row + c / t->group) * t->a->q_stride
			+ (h * t->group + c % t->group) * dim, dim * sizeof *t->q);
		cache_rotate(t->q + c * dim, dim, kv_rotated(dim));
	}
	for (size_t first = 0; first < n; first += SPAN_BLOCKS) {
		struct quantised packed;
		float x[SPAN];

		for (size_t i = 0; i < SPAN_BLOCKS; i++)
			if (first + i < n)
				codes_take_group(t, first + i, x + i * KV_SCALED);
			else
				memset(x + i * KV_SCALED, 0, KV_SCALED * sizeof *x);
		quantise(ACTS_Q8, ATTEND_I16, x, &packed);
		for (size_t i = 0; i < SPAN_BLOCKS && first + i < n; i++) {
			int32_t *to = t->codes + (first + i) * CODES_GROUP;

			for (size_t f = 0; f < CODES_GROUP; f++)
				to[f] = packed.ints[f % (1 + ATTEND_I16)][f / (1 + ATTEND_I16)][i];
			t->code_scale[first + i] = packed.dx[i] * t->a->scale;
			t->code_start[first + i] = MAGIC - bias * (packed.xsum[0][i] + packed.xsum[1][i]);
		}
	}
}

/* ---- scores ---- */

struct code_tiles {             /* neighbouring tiles of K */
	const char *k;
	const float *scale;     /* [tiles][groups][16] */
	size_t bytes;           /* of a tile */
	ptrdiff_t ahead;        /* from a tile to the same one of the next block */
};

/* s[c][lane] = the scores of a panel whose first column is c0, for the positions of `tiles` tiles. prefetches: the
 * same tiles of the next block. */
INLINE void code_scores(const struct attend_tile *t, enum kv_type type, size_t width, size_t tiles, int prefetches,
	size_t c0, struct code_tiles k, float *s)
{
	f32x16 all[ATTEND_COLUMNS * ATTEND_SIDE];
	size_t fours = (t->a->dim_k + KV_FOUR - 1) / KV_FOUR;

	UNROLL
	for (size_t i = 0; i < width * tiles; i++)
		all[i] = vf_zero();
	for (size_t g = 0; g < t->groups; g++) {
		const int32_t *x = t->codes + (c0 * t->groups + g) * CODES_GROUP;
		const size_t halves = type == KV_Q4_0 ? 2 : 1, loads = CODES_FOURS / halves;    /* of a whole group */
		size_t n = type == KV_Q4_0 ? loads : size_min(fours - g * CODES_FOURS, CODES_FOURS);
		i32x16 sum[ATTEND_COLUMNS * ATTEND_SIDE];

		UNROLL
		for (size_t i = 0; i < width * tiles; i++)
			sum[i] = vi_set1(t->code_start[(c0 + i / tiles) * t->groups + g]);
		for (size_t f = 0; f < n; f++) {
			attend_codes key[ATTEND_SIDE], high[ATTEND_SIDE];

			UNROLL
			for (size_t i = 0; i < tiles; i++) {
				const char *at = k.k + i * k.bytes + (g * loads + f) * 64;
				b64 codes = vb_load(at);

				key[i] = type == KV_Q4_0 ? codes_low(codes) : va_keys(codes);
				high[i] = type == KV_Q4_0 ? codes_high(codes) : key[i];
				if (prefetches)
					attend_ahead(at + k.ahead, 64);
			}
			UNROLL
			for (size_t c = 0; c < width; c++)
				UNROLL
				for (size_t i = 0; i < halves * tiles; i++)
					sum[c * tiles + i % tiles] = va_add_keys(sum[c * tiles + i % tiles],
						i < tiles ? key[i] : high[i - tiles], x + c * t->groups * CODES_GROUP
						+ (f + i / tiles * loads) * (1 + ATTEND_I16));
		}
		UNROLL
		for (size_t i = 0; i < tiles; i++) {
			f32x16 scale = vf_load(k.scale + (i * t->groups + g) * KV_TILE);
			f32x16 magic = vf_mul(scale, vf_set1(MAGIC_FLOAT));

			UNROLL
			for (size_t c = 0; c < width; c++)
				all[c * tiles + i] = vf_fma(vf_set1(t->code_scale[(c0 + c) * t->groups + g]),
					vf_fms(scale, vi_as_float(sum[c * tiles + i]), magic), all[c * tiles + i]);
		}
	}
	UNROLL
	for (size_t i = 0; i < width * tiles; i++)
		vf_store(s + i / tiles * ATTEND_BLOCK + i % tiles * KV_TILE, all[i]);
}

/* The same for the first n positions of a block. */
INLINE void code_block_scores(const struct attend_tile *t, enum kv_type type, size_t width, int prefetches, size_t c0,
	size_t n)
{
	struct code_tiles k = { .k = t->now.k, .scale = t->k_scale,
		.bytes = kv_k_index(type, t->a->dim_k, KV_TILE, 0) / (type == KV_Q4_0 ? 2 : 1),
		.ahead = (const char *)t->next.k - (const char *)t->now.k };
	size_t tiles = (n + KV_TILE - 1) / KV_TILE, side;

	for (size_t i = 0; i < tiles; i += side, k.k += side * k.bytes, k.scale += side * t->groups * KV_TILE) {
		side = tiles - i < ATTEND_SIDE ? 1 : ATTEND_SIDE;
		if (side == 1)
			code_scores(t, type, width, 1, prefetches, c0, k, t->s + i * KV_TILE);
		else
			code_scores(t, type, width, ATTEND_SIDE, prefetches, c0, k, t->s + i * KV_TILE);
	}
}

/* ---- sums over V ---- */

enum { CODES_RUN_INTS = ATTEND_RUN / KV_FOUR * (1 + ATTEND_I16) };     /* int32s of the weights of a run */

struct code_weights {           /* of a run of positions, for each column of a panel */
	int32_t p[ATTEND_COLUMNS][CODES_RUN_INTS];
	float step[ATTEND_COLUMNS];
	int32_t start[ATTEND_COLUMNS];
};

/* Column c's weights in a run of positions: p[n], n up to ATTEND_RUN, times V's scales, in bytes. Lanes of p past n are
 * zero. Scales of q4_0 have signs. */
INLINE void code_weigh(struct code_weights *w, enum kv_type type, size_t c, const float *p, const float *scale,
	size_t n)
{
	const f32x16 magic = vf_set1(MAGIC_FLOAT), zero = vf_zero();
	const int is_signed = type == KV_Q4_0, bias = is_signed ? FOURS_BIAS : VALUE_BIAS;
	const float top = is_signed ? 127 : 255;
	f32x16 v[ATTEND_RUN / LANES], most = zero;
	i32x16 sum = vi_zero();
	float max, unit;

	UNROLL
	for (size_t i = 0; i < ATTEND_RUN / LANES; i++) {
		f32x16 size;

		v[i] = i * LANES < n ? vf_mul(vf_load(p + i * LANES), vf_load(scale + i * LANES)) : zero;
		size = is_signed ? vf_max(v[i], vf_sub(zero, v[i])) : v[i];
		most = vf_max(size, most);      /* ignores NaN, which unseen positions may have */
		if (is_signed)
			v[i] = vf_select_less(size, vf_set1(INFINITY), v[i], zero);
	}
	max = vf_largest(most);
	unit = max < ACTS_LEAST ? 0 : 1 / max;
	w->step[c] = max < ACTS_LEAST ? 0 : max * (1 / top);
	UNROLL
	for (size_t i = 0; i < ATTEND_RUN / LANES; i++) {
		i32x16 code = vf_as_int(vf_fma(v[i], vf_set1(top * unit), magic));      /* the low byte of NaN is 0 */

		va_weights(w->p[c] + i * CODES_RUN_INTS / (ATTEND_RUN / LANES), code, is_signed);
		if (bias)
			sum = vi_add(sum, is_signed ? vi_sub(code, vi_set1(MAGIC)) : vi_and(code, vi_set1(255)));
	}
	w->start[c] = MAGIC - (bias ? bias * (int32_t)vf_tree(vi_to_float(sum)) : 0);
}

struct code_values {            /* vectors of elements of V */
	const char *v;
	int high;               /* of codes of four bits: a single vector is that of the high bits */
	size_t apart;           /* bytes from one four of positions to the next */
	ptrdiff_t ahead;        /* to those of the next block, to be prefetched; 0: none */
};

/* all[c][x] += the sums of a run, for a panel and `vectors` vectors. */
INLINE void code_run(const struct code_weights *w, enum kv_type type, size_t width, size_t vectors, int prefetches,
	struct code_values v, f32x16 *all)
{
	i32x16 sum[ATTEND_COLUMNS * ATTEND_SIDE];

	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		sum[i] = vi_set1(w->start[i / vectors]);
	_Pragma("GCC unroll 4")
	for (size_t f = 0; f < ATTEND_RUN / KV_FOUR; f++) {
		attend_codes value[ATTEND_SIDE];

		UNROLL
		for (size_t x = 0; x < vectors; x++) {
			const char *at = v.v + f * v.apart + (type == KV_Q4_0 ? 0 : x * 64);
			b64 codes = vb_load(at);

			value[x] = type != KV_Q4_0 ? va_values(codes) : x || v.high ? codes_high(codes)
				: codes_low(codes);
			if (prefetches && !(type == KV_Q4_0 && x))
				attend_ahead(at + v.ahead, 64);
		}
		UNROLL
		for (size_t c = 0; c < width; c++)
			UNROLL
			for (size_t x = 0; x < vectors; x++)
				sum[c * vectors + x] = (type == KV_Q4_0 ? va_add_keys : va_add_values)(
					sum[c * vectors + x], value[x], w->p[c] + f * (1 + ATTEND_I16));
	}
	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		all[i] = vf_fma(vf_set1(w->step[i / vectors]), vf_sub(vi_as_float(sum[i]), vf_set1(MAGIC_FLOAT)),
			all[i]);
}

/* o[c] = the sums of the first n positions, run by run. */
INLINE void code_vectors(const struct code_weights *w, enum kv_type type, size_t width, size_t vectors, int prefetches,
	struct code_values v, size_t n, float *o, size_t out_dim)
{
	f32x16 all[ATTEND_COLUMNS * ATTEND_SIDE];

	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		all[i] = vf_zero();
	for (size_t j = 0; j < n; j += ATTEND_RUN, v.v += ATTEND_RUN / KV_FOUR * v.apart)
		code_run(w + j / ATTEND_RUN, type, width, vectors, prefetches, v, all);
	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		vf_store(o + i / vectors * out_dim + i % vectors * LANES, all[i]);
}

/* o[c] = the sums over V for a panel, whose columns see the first seen[c] positions of a block, the last one n. */
INLINE void code_block_sums(const struct attend_tile *t, enum kv_type type, size_t width, int prefetches,
	const size_t *seen, size_t n, float *o)
{
	struct code_values v = { .v = t->values, .ahead = (const char *)t->next.v - (const char *)t->now.v };
	const size_t bytes = KV_SCALED * ATTEND_BLOCK / (type == KV_Q4_0 ? 2 : 1);

	for (size_t d = 0; d < t->a->dim_v; d += KV_SCALED, v.v += bytes) {
		size_t dims = size_min(KV_SCALED, t->a->dim_v - d);
		const float *scale = t->v_scale + d / KV_SCALED * ATTEND_BLOCK;
		struct code_weights w[ATTEND_BLOCK / ATTEND_RUN];

		for (size_t j = 0; j < n; j += ATTEND_RUN)
			for (size_t c = 0; c < width; c++)
				code_weigh(w + j / ATTEND_RUN, type, c, t->s + c * ATTEND_BLOCK + j, scale + j,
					seen[c] - size_min(seen[c], j));
		v.apart = type == KV_Q4_0 ? 64 : dims * KV_FOUR;
		for (size_t x = 0, side; x * LANES < dims; x += side) {
			struct code_values at = { v.v + (type == KV_Q4_0 ? 0 : x * 64), x > 0, v.apart, v.ahead };
			float *to = o + d + x * LANES;

			side = (x + ATTEND_SIDE - 1) * LANES < dims ? ATTEND_SIDE : 1;
			if (side == 1)
				code_vectors(w, type, width, 1, prefetches, at, n, to, t->out_dim);
			else
				code_vectors(w, type, width, ATTEND_SIDE, prefetches, at, n, to, t->out_dim);
		}
	}
}

/* ---- a block ---- */

/* The scales of what the tile sees of a block, as floats. */
static void codes_scales(const struct attend_tile *t, size_t first)
{
	const struct attend *a = t->a;
	size_t n = attend_seen(t, t->columns - 1, first), keys = t->groups * KV_TILE;
	size_t dim = a->v_in_k ? a->dim_k : a->dim_v;

	for (size_t j = 0; j < n; j += KV_TILE) {
		const uint16_t *k = t->now.k_scale + kv_scale_index(a->dim_k, j, 0);
		const uint16_t *v = (a->v_in_k ? t->now.k_scale : t->now.v_scale) + kv_scale_index(dim, j, 0);

		for (size_t i = 0; i < keys; i += LANES)
			vf_store(t->k_scale + j / KV_TILE * keys + i, vf_load_f16(k + i));
		for (size_t b = 0; b < kv_scales(a->dim_v); b++)
			vf_store(t->v_scale + b * ATTEND_BLOCK + j, vf_load_f16(v + b * KV_TILE));
	}
}

/* Byte i of b[j] = byte j of a[i]. */
static void codes_transpose(const uint32_t a[4], uint32_t b[4])
{
	const uint32_t even = 0x00ff00ff, odd = 0xff00ff00, low = 0xffff;
	uint32_t p = (a[0] & even) | (a[1] & even) << 8, q = (a[0] & odd) >> 8 | (a[1] & odd);
	uint32_t r = (a[2] & even) | (a[3] & even) << 8, s = (a[2] & odd) >> 8 | (a[3] & odd);

	b[0] = (p & low) | r << 16, b[1] = (q & low) | s << 16;
	b[2] = p >> 16 | (r & ~low), b[3] = q >> 16 | (s & ~low);
}

/* The first dim_v elements of K, in the order of V. */
static void codes_copy_v(const struct attend_tile *t, size_t n)
{
	const struct attend *a = t->a;
	size_t in_byte = a->type == KV_Q4_0 ? 2 : 1;

	for (size_t j = 0; j < n; j += KV_FOUR)
		for (size_t d = 0; d < a->dim_v; d += KV_FOUR) {
			uint32_t k[4], v[4];

			if (d % KV_SCALED >= KV_SCALED / in_byte)
				continue;       /* copied with the low bits */
			memcpy(k, (const char *)t->now.k + kv_k_index(a->type, a->dim_k, j, d) / in_byte, sizeof k);
			codes_transpose(k, v);
			memcpy((char *)t->v + kv_v_index(a->type, a->dim_v, j, d) / in_byte, v,
				size_min(KV_FOUR, a->dim_v - d) * sizeof *v);
		}
}

/* Computes the block's result for columns [begin, last) of the panel whose first column is c0. */
INLINE void codes_panel(const struct attend_tile *t, enum kv_type type, size_t width, int prefetches, size_t c0,
	size_t begin, size_t last, size_t first, struct attend_state *part)
{
	size_t n = attend_seen(t, last - 1, first), seen[ATTEND_COLUMNS];

	code_block_scores(t, type, width, prefetches, c0, n);
	for (size_t i = 0; i < width; i++) {
		size_t c = c0 + i;

		seen[i] = c >= begin && c < last ? attend_seen(t, c, first) : 0;
		if (seen[i])
			attend_weigh(t, c, first, t->s + i * ATTEND_BLOCK, part);
	}
	code_block_sums(t, type, width, prefetches, seen, n, part->o + c0 * t->out_dim);
}

/* Computes the block's result for every column that sees it; width is a constant where this is expanded. The first
 * panel prefetches. */
INLINE void codes_panels(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type,
	size_t width)
{
	size_t begin = attend_first_seeing(t, first), end = attend_first_beginning(t, first + 1);
	size_t c = begin / width * width;

	if (c < end)
		codes_panel(t, type, width, 1, c, begin, size_min(c + width, end), first, part);
	while ((c += width) < end)
		codes_panel(t, type, width, 0, c, begin, size_min(c + width, end), first, part);
}

INLINE void codes_block(struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type)
{
	codes_scales(t, first);
	t->values = t->now.v;
	if (t->a->v_in_k) {
		codes_copy_v(t, attend_seen(t, t->columns - 1, first));
		t->values = (const char *)t->v;
		t->next.v = t->now.v;
	}
	switch (t->width) {
	case 1: codes_panels(t, first, part, type, 1); break;
	case 2: codes_panels(t, first, part, type, 2); break;
	case 3: codes_panels(t, first, part, type, 3); break;
	default: codes_panels(t, first, part, type, ATTEND_COLUMNS); break;
	}
}

#endif
