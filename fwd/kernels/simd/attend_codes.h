/* attend_codes: attention over K and V in codes (scalar_codes.c), in integers: for each panel of queries and block of
 * positions the scores, their exponentials, these in bytes, and the sums over V. Included once by each instruction
 * set's file.
 *
 * Few columns read K and V in place; for many, a block is copied as it is multiplied. Codes of positions that a query
 * does not see are multiplied by zero, and so are those that a vector covers after the last position; scales of such
 * positions may be anything, even NaN. */
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

/* Puts group i, which is block b of a span, where its panel has it. */
static void codes_put_group(const struct attend_tile *t, size_t i, const struct quantised *packed, size_t b)
{
	size_t c = i / t->groups, at = (c / t->width * t->groups + i % t->groups) * t->width, each = 1 + ATTEND_I16;
	int32_t *to = t->codes + at * CODES_GROUP + c % t->width * each;
	int bias = t->a->type == KV_Q4_0 ? FOURS_BIAS : KEY_BIAS;

	for (size_t f = 0; f < CODES_GROUP; f++)
		to[f / each * t->width * each + f % each] = packed->ints[f % each][f / each][b];
	t->code_scale[at + c % t->width] = packed->dx[b] * t->a->scale;
	t->code_start[at + c % t->width] = MAGIC - bias * (packed->xsum[0][b] + packed->xsum[1][b]);
}

/* Rotates and quantises the queries of KV head h, column by column. */
static void codes_pack(const struct attend_tile *t, size_t h)
{
	size_t n = t->panels * t->width * t->groups, dim = t->a->dim_k;

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
		for (size_t i = 0; i < SPAN_BLOCKS && first + i < n; i++)
			codes_put_group(t, first + i, &packed, i);
	}
}

/* ---- scores ---- */

struct code_tiles {             /* neighbouring tiles of K: in place, or the copy */
	const char *k;
	const attend_codes *copy;       /* [tiles][groups][CODES_FOURS] */
	const float *scale;     /* [tiles][groups][16] */
	size_t bytes;           /* of a tile in place */
	ptrdiff_t ahead;        /* from a tile to the same one of the next block, to be prefetched */
};

/* s[c][lane] = the scores of a panel whose first column is c0, for the positions of `tiles` tiles. */
INLINE void code_scores(const struct attend_tile *t, enum kv_type type, int direct, size_t width, size_t tiles,
	size_t c0, struct code_tiles k, float *s)
{
	f32x16 all[CODES_COLUMNS * ATTEND_SIDE];
	const size_t halves = direct && type == KV_Q4_0 ? 2 : 1, loads = CODES_FOURS / halves;  /* of a whole group */
	const size_t each = 1 + ATTEND_I16;
	size_t fours = type == KV_Q4_0 ? t->groups * loads : (t->a->dim_k + KV_FOUR - 1) / KV_FOUR;
	const int32_t *x = t->codes + c0 * t->groups * CODES_GROUP;

	UNROLL
	for (size_t i = 0; i < width * tiles; i++)
		all[i] = vf_zero();
	for (size_t g = 0; g < t->groups; g++, x += width * CODES_GROUP) {
		const int32_t *start = t->code_start + c0 * t->groups + g * width;
		const float *x_scale = t->code_scale + c0 * t->groups + g * width;
		size_t n = size_min(fours - g * loads, loads);
		i32x16 sum[CODES_COLUMNS * ATTEND_SIDE];

		UNROLL
		for (size_t i = 0; i < width * tiles; i++)
			sum[i] = vi_set1(start[i / tiles]);
		for (size_t f = 0; f < n; f++) {
			attend_codes key[2 * ATTEND_SIDE];

			UNROLL
			for (size_t i = 0; i < tiles; i++)
				if (direct) {
					const char *at = k.k + i * k.bytes + (g * loads + f) * 64;
					b64 codes = vb_load(at);

					key[i] = type == KV_Q4_0 ? codes_low(codes) : va_keys(codes);
					key[i + (halves - 1) * tiles] = type == KV_Q4_0 ? codes_high(codes) : key[i];
					attend_ahead(at + k.ahead, 64);
				} else
					key[i] = k.copy[(i * t->groups + g) * CODES_FOURS + f];
			UNROLL
			for (size_t c = 0; c < width; c++)
				UNROLL
				for (size_t i = 0; i < halves * tiles; i++)
					sum[c * tiles + i % tiles] = va_add_keys(sum[c * tiles + i % tiles], key[i],
						x + ((f + i / tiles * loads) * width + c) * each);
		}
		UNROLL
		for (size_t i = 0; i < tiles; i++) {
			f32x16 scale = vf_load(k.scale + (i * t->groups + g) * KV_TILE);
			f32x16 magic = vf_mul(scale, vf_set1(MAGIC_FLOAT));

			UNROLL
			for (size_t c = 0; c < width; c++)
				all[c * tiles + i] = vf_fma(vf_set1(x_scale[c]),
					vf_fms(scale, vi_as_float(sum[c * tiles + i]), magic), all[c * tiles + i]);
		}
	}
	UNROLL
	for (size_t i = 0; i < width * tiles; i++)
		vf_store(s + i / tiles * ATTEND_BLOCK + i % tiles * KV_TILE, all[i]);
}

/* The same for the first n positions of a block. */
INLINE void code_block_scores(const struct attend_tile *t, enum kv_type type, int direct, size_t width, size_t c0,
	size_t n)
{
	struct code_tiles k = { .k = t->now.k, .copy = (const void *)t->k, .scale = t->k_scale,
		.bytes = kv_k_index(type, t->a->dim_k, KV_TILE, 0) / (type == KV_Q4_0 ? 2 : 1),
		.ahead = (const char *)t->next.k - (const char *)t->now.k };
	size_t tiles = (n + KV_TILE - 1) / KV_TILE, side;

	for (size_t i = 0; i < tiles; i += side) {
		side = tiles - i < ATTEND_SIDE ? 1 : ATTEND_SIDE;
		if (side == 1)
			code_scores(t, type, direct, width, 1, c0, k, t->s + i * KV_TILE);
		else
			code_scores(t, type, direct, width, ATTEND_SIDE, c0, k, t->s + i * KV_TILE);
		k.k += side * k.bytes;
		k.copy += side * t->groups * CODES_FOURS;
		k.scale += side * t->groups * KV_TILE;
	}
}

/* ---- sums over V ---- */

enum {
	CODES_RUNS = ATTEND_BLOCK / ATTEND_RUN,
	CODES_RUN_INTS = ATTEND_RUN / KV_FOUR * (1 + ATTEND_I16)        /* int32s of the weights of a run */
};

_Static_assert(CODES_RUNS * CODES_COLUMNS <= LANES, "a lane for each column and run");
_Static_assert(ATTEND_RUN == 4 * LANES, "va_weights() takes the weights of a run");

struct code_weights {           /* of a panel: those of column c in run r are number r · width + c */
	int32_t p[CODES_RUNS * CODES_COLUMNS][CODES_RUN_INTS];
	float step[LANES];
	int32_t start[LANES];
};

/* A panel's weights s[c][ATTEND_BLOCK], times V's scales, in bytes. Those of positions that a column does not see are
 * zero, and scales there may be NaN, whose low byte is 0. Scales of q4_0 have signs. */
INLINE void code_weigh(struct code_weights *w, enum kv_type type, size_t width, const float *s, const float *scale)
{
	const size_t n = CODES_RUNS * width, parts = ATTEND_RUN / LANES;
	const f32x16 magic = vf_set1(MAGIC_FLOAT), least = vf_set1(ACTS_LEAST);
	const int is_signed = type == KV_Q4_0, bias = is_signed ? FOURS_BIAS : VALUE_BIAS;
	const float top = is_signed ? 127 : 255;
	f32x16 v[CODES_RUNS * CODES_COLUMNS][ATTEND_RUN / LANES], most[CODES_RUNS * CODES_COLUMNS], max;
	i32x16 sum[CODES_RUNS * CODES_COLUMNS];
	float factor[LANES];

	UNROLL
	for (size_t i = 0; i < n; i++) {
		most[i] = vf_zero();
		UNROLL
		for (size_t j = 0; j < parts; j++) {
			size_t at = i / width * ATTEND_RUN + j * LANES;

			v[i][j] = vf_mul(vf_load(s + i % width * ATTEND_BLOCK + at), vf_load(scale + at));
			most[i] = vf_max(is_signed ? vf_abs(v[i][j]) : v[i][j], most[i]);       /* ignores NaN */
		}
	}
	max = vf_largest_each(most, n);
	vf_store(w->step, vf_zero_if_less(max, least, vf_mul(max, vf_set1(1 / top))));
	vf_store(factor, vf_zero_if_less(max, least, vf_mul(vf_set1(top), vf_div(vf_set1(1), max))));
	UNROLL
	for (size_t i = 0; i < n; i++) {
		i32x16 code[ATTEND_RUN / LANES];

		UNROLL
		for (size_t j = 0; j < parts; j++)
			code[j] = vf_as_int(vf_fma(v[i][j], vf_set1(factor[i]), magic));
		sum[i] = va_weights(w->p[i], code, is_signed);
	}
	vi_store(w->start, bias ? vi_sub(vi_set1(MAGIC), vi_shl(vi_sum_each(sum, n), is_signed ? 3 : 7))
		: vi_set1(MAGIC));
}

struct code_values {            /* vectors of elements of V: in place, or the copy */
	const char *v;
	const attend_codes *copy;
	int high;               /* of codes of four bits: a single vector is that of the high bits */
	size_t apart;           /* bytes in place from one four of positions to the next */
	ptrdiff_t ahead;        /* to those of the next block, to be prefetched */
};

/* all[c][x] += the sums of run r, for a panel and `vectors` vectors. */
INLINE void code_run(const struct code_weights *w, enum kv_type type, int direct, size_t width, size_t vectors,
	size_t r, struct code_values v, f32x16 *all)
{
	const int32_t *p = w->p[r * width], *start = w->start + r * width;
	const float *step = w->step + r * width;
	i32x16 sum[CODES_COLUMNS * ATTEND_SIDE];

	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		sum[i] = vi_set1(start[i / vectors]);
	_Pragma("GCC unroll 4")
	for (size_t f = 0; f < ATTEND_RUN / KV_FOUR; f++) {
		attend_codes value[ATTEND_SIDE];

		UNROLL
		for (size_t x = 0; x < vectors; x++)
			if (direct) {
				const char *at = v.v + f * v.apart + (type == KV_Q4_0 ? 0 : x * 64);
				b64 codes = vb_load(at);

				value[x] = type != KV_Q4_0 ? va_values(codes) : x || v.high ? codes_high(codes)
					: codes_low(codes);
				if (!(type == KV_Q4_0 && x))
					attend_ahead(at + v.ahead, 64);
			} else
				value[x] = v.copy[f * CODES_VECTORS + x];
		UNROLL
		for (size_t c = 0; c < width; c++)
			UNROLL
			for (size_t x = 0; x < vectors; x++)
				sum[c * vectors + x] = (type == KV_Q4_0 ? va_add_keys : va_add_values)(
					sum[c * vectors + x], value[x], p + c * CODES_RUN_INTS
					+ f * (1 + ATTEND_I16));
	}
	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		all[i] = vf_fma(vf_set1(step[i / vectors]), vf_sub(vi_as_float(sum[i]), vf_set1(MAGIC_FLOAT)), all[i]);
}

/* o[c] = the sums of the first n positions, run by run. */
INLINE void code_vectors(const struct code_weights *w, enum kv_type type, int direct, size_t width, size_t vectors,
	struct code_values v, size_t n, float *o, size_t out_dim)
{
	f32x16 all[CODES_COLUMNS * ATTEND_SIDE];

	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		all[i] = vf_zero();
	for (size_t r = 0; r * ATTEND_RUN < n; r++) {
		code_run(w, type, direct, width, vectors, r, v, all);
		v.v += ATTEND_RUN / KV_FOUR * v.apart;
		v.copy += ATTEND_RUN / KV_FOUR * CODES_VECTORS;
	}
	UNROLL
	for (size_t i = 0; i < width * vectors; i++)
		vf_store(o + i / vectors * out_dim + i % vectors * LANES, all[i]);
}

/* o[c] = the sums over V for a panel, whose columns see no more than the first n positions of a block. */
INLINE void code_block_sums(const struct attend_tile *t, enum kv_type type, int direct, size_t width, size_t n,
	float *o)
{
	const attend_codes *copy = (const void *)t->v;
	const char *v = t->now.v;
	size_t apart = type == KV_Q4_0 ? 64 : KV_SCALED * KV_FOUR;

	for (size_t d = 0; d < t->a->dim_v; d += KV_SCALED) {
		size_t dims = size_min(KV_SCALED, t->a->dim_v - d);
		struct code_values at = { .apart = type == KV_Q4_0 ? 64 : dims * KV_FOUR,
			.ahead = (const char *)t->next.v - (const char *)t->now.v };
		struct code_weights w;

		code_weigh(&w, type, width, t->s, t->v_scale + d / KV_SCALED * ATTEND_BLOCK);
		for (size_t x = 0, side; x * LANES < dims; x += side) {
			float *to = o + d + x * LANES;

			at.v = v + (type == KV_Q4_0 ? 0 : x * 64), at.high = x > 0, at.copy = copy + x;
			side = (x + ATTEND_SIDE - 1) * LANES < dims ? ATTEND_SIDE : 1;
			if (side == 1)
				code_vectors(&w, type, direct, width, 1, at, n, to, t->out_dim);
			else
				code_vectors(&w, type, direct, width, ATTEND_SIDE, at, n, to, t->out_dim);
		}
		v += ATTEND_BLOCK / KV_FOUR * apart;
		copy += ATTEND_BLOCK / KV_FOUR * CODES_VECTORS;
	}
}

/* ---- a block ---- */

/* The scales of what the tile sees of a block, as floats, V's filled up with zeros. */
static void codes_scales(const struct attend_tile *t, size_t n)
{
	const struct attend *a = t->a;
	size_t keys = t->groups * KV_TILE, dim = a->v_in_k ? a->dim_k : a->dim_v;

	for (size_t j = 0; j < n; j += KV_TILE) {
		const uint16_t *k = t->now.k_scale + kv_scale_index(a->dim_k, j, 0);
		const uint16_t *v = (a->v_in_k ? t->now.k_scale : t->now.v_scale) + kv_scale_index(dim, j, 0);

		for (size_t i = 0; i < keys; i += LANES)
			vf_store(t->k_scale + j / KV_TILE * keys + i, vf_load_f16(k + i));
		for (size_t b = 0; b < kv_scales(a->dim_v); b++)
			vf_store(t->v_scale + b * ATTEND_BLOCK + j, vf_load_f16(v + b * KV_TILE));
	}
	for (size_t j = (n + KV_TILE - 1) / KV_TILE * KV_TILE; j < ATTEND_BLOCK; j += KV_TILE)
		for (size_t b = 0; b < kv_scales(a->dim_v); b++)
			vf_store(t->v_scale + b * ATTEND_BLOCK + j, vf_zero());
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

/* Elements d to d + 15 of V at positions j to j + 3, from K: what V would have there. */
INLINE b64 codes_from_k(const struct attend_tile *t, enum kv_type type, size_t j, size_t d)
{
	const struct attend *a = t->a;
	uint32_t v[LANES] = { 0 };

	for (size_t i = 0; i < LANES && d + i < a->dim_k; i += 4) {
		uint32_t k[4];

		memcpy(k, (const char *)t->now.k + kv_k_index(type, a->dim_k, j, d + i) / (type == KV_Q4_0 ? 2 : 1),
			sizeof k);
		codes_transpose(k, v + i);
	}
	return vb_load(v);
}

/* Copies the tiles of K's first n positions, as they are multiplied: [tiles][groups][CODES_FOURS]. Prefetches the next
 * block. */
INLINE void codes_copy_k(const struct attend_tile *t, enum kv_type type, size_t n)
{
	const size_t halves = type == KV_Q4_0 ? 2 : 1, loads = CODES_FOURS / halves;
	size_t fours = type == KV_Q4_0 ? t->groups * loads : (t->a->dim_k + KV_FOUR - 1) / KV_FOUR;
	ptrdiff_t ahead = (const char *)t->next.k - (const char *)t->now.k;
	attend_codes *to = (void *)t->k;
	const char *k = t->now.k;

	for (size_t i = 0; i < n; i += KV_TILE)
		for (size_t g = 0; g < t->groups; g++, to += CODES_FOURS)
			for (size_t f = 0, last = size_min(fours - g * loads, loads); f < last; f++, k += 64) {
				b64 codes = vb_load(k);

				to[f] = type == KV_Q4_0 ? codes_low(codes) : va_keys(codes);
				if (type == KV_Q4_0)
					to[f + loads] = codes_high(codes);
				attend_ahead(k + ahead, 64);
			}
}

/* The same for V: [groups][ATTEND_BLOCK / 4][CODES_VECTORS]. */
INLINE void codes_copy_v(const struct attend_tile *t, enum kv_type type, size_t n)
{
	const struct attend *a = t->a;
	ptrdiff_t ahead = (const char *)t->next.v - (const char *)t->now.v;
	const size_t vectors = type == KV_Q4_0 ? 1 : CODES_VECTORS;     /* of 64 bytes */

	for (size_t d = 0; d < a->dim_v; d += KV_SCALED) {
		size_t dims = size_min(KV_SCALED, a->dim_v - d), apart = type == KV_Q4_0 ? 64 : dims * KV_FOUR;
		const char *v = (const char *)t->now.v + d * ATTEND_BLOCK / (type == KV_Q4_0 ? 2 : 1);
		attend_codes *to = (attend_codes *)(void *)t->v + d / LANES * (ATTEND_BLOCK / KV_FOUR);

		for (size_t j = 0; j < n; j += KV_FOUR, to += CODES_VECTORS, v += apart)
			for (size_t x = 0; x < vectors && x * LANES < dims; x++) {
				b64 codes = a->v_in_k ? codes_from_k(t, type, j, d + x * LANES) : vb_load(v + x * 64);

				to[x] = type == KV_Q4_0 ? codes_low(codes) : va_values(codes);
				if (type == KV_Q4_0)
					to[1] = codes_high(codes);
				if (!a->v_in_k)
					attend_ahead(v + x * 64 + ahead, 64);
			}
	}
}

/* Computes the block's result for columns [begin, last) of the panel whose first column is c0. */
INLINE void codes_panel(const struct attend_tile *t, enum kv_type type, int direct, size_t width, size_t c0,
	size_t begin, size_t last, size_t first, struct attend_state *part)
{
	size_t n = attend_seen(t, last - 1, first);

	code_block_scores(t, type, direct, width, c0, n);
	attend_weigh(t, c0, width, begin, last, first, t->s, part);
	code_block_sums(t, type, direct, width, n, part->o + c0 * t->out_dim);
}

/* Computes the block's result for every column that sees it; type, direct and width are constants where this is
 * expanded. */
INLINE void codes_panels(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type,
	int direct, size_t width)
{
	size_t begin = attend_first_seeing(t, first), end = attend_first_beginning(t, first + 1);

	for (size_t c = begin / width * width; c < end; c += width)
		codes_panel(t, type, direct, width, c, begin, size_min(c + width, end), first, part);
}

INLINE void codes_block(struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type)
{
	size_t n = attend_seen(t, t->columns - 1, first);

	codes_scales(t, n);
	if (!t->direct) {
		codes_copy_k(t, type, n);
		codes_copy_v(t, type, n);
		codes_panels(t, first, part, type, 0, CODES_COLUMNS);
		return;
	}
	switch (t->width) {
	case 1: codes_panels(t, first, part, type, 1, 1); break;
	case 2: codes_panels(t, first, part, type, 1, 2); break;
	case 3: codes_panels(t, first, part, type, 1, 3); break;
	default: codes_panels(t, first, part, type, 1, ATTEND_COLUMNS); break;
	}
}

#endif
