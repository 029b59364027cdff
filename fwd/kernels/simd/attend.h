/* attend: the attention of scalar_attend.c in the vector vocabulary; included once by each instruction set's file.
 *
 * Each block of ATTEND_BLOCK positions goes through the same steps for all columns of a tile (attend_tile.h): scores
 * [columns][ATTEND_BLOCK] into scratch, softmax of each column there, sums over V, and merging the result into that of
 * the blocks before. This file has these steps for K and V in floats, attend_codes.h for codes. Few columns (a step of
 * decode) read K and V in place and widen them as they load; many (a prompt) read a copy of the block in f32, which
 * stays in the CPU's cache for all of them.
 *
 * A column's sums include only the positions that it may see. Scores of later positions are computed where a vector
 * covers them too, but each is in a lane of its own and is overwritten before it is read; later rows of V are not read
 * for it. So neither NaN nor infinity there reaches a result. */
#ifndef ATTEND_H
#define ATTEND_H

#include <string.h>

#include "attend_codes.h"
#include "attend_tile.h"
#include "lib/base/size.h"

/* ---- a block of positions ---- */

/* Computes the block's result for every column that sees it. k is the block's first tile, v its first row; type and
 * width are constants where this is expanded. */
INLINE void attend_block(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type,
	size_t width, struct k_tile k, struct v_rows v)
{
	size_t dim_k = t->a->dim_k;
	size_t begin = attend_first_seeing(t, first), end = attend_first_beginning(t, first + 1);
	size_t panel = begin / width * width;
	size_t most = end > begin ? attend_seen(t, end - 1, first) : 0, unseen = attend_unseen(t->a, first);

	for (size_t j = 0; j < most; j += KV_TILE) {
		struct k_tile keys = { .k = (const char *)k.k + j * dim_k * attend_size(type) };

		if (type != KV_F32)
			keys.ahead = (const char *)k.ahead + j * dim_k * attend_size(type);
		for (size_t c = attend_first_seeing(t, first + j) / width * width; c < end; c += width)
			attend_scores(type, width, t->q + c * dim_k, &keys, dim_k, t->a->scale,
				t->s + c * ATTEND_BLOCK + j);
	}
	for (size_t c = panel; c < end; c += width)
		attend_weigh(t, c, width, begin, end, first, t->s + c * ATTEND_BLOCK, part);
	for (size_t x = 0, vectors; x < t->out_dim / LANES; x += vectors) {
		struct v_rows rows = attend_values(v, type, x);

		vectors = x + ATTEND_VECTORS <= t->out_dim / LANES ? ATTEND_VECTORS : 1;
		for (size_t c = panel; c < end; c += width) {
			size_t joint = attend_seen(t, c, first), last = c + width < end ? c + width : end;
			const float *p = t->s + c * ATTEND_BLOCK;
			float *o = part->o + c * t->out_dim + x * LANES;

			if (vectors > 1)
				attend_sums(type, width, ATTEND_VECTORS, rows, (struct value_sums){ p, o, t->out_dim,
					unseen, joint, 0 });
			else
				attend_sums(type, width, 1, rows, (struct value_sums){ p, o, t->out_dim, unseen, joint,
					0 });
			for (size_t i = c; i < last; i++)
				if (attend_seen(t, i, first) > joint)
					attend_rest(type, vectors, rows,
						(struct value_sums){ p + (i - c) * ATTEND_BLOCK,
						o + (i - c) * t->out_dim, t->out_dim, joint, attend_seen(t, i,
						first), 1 });
		}
	}
}

/* V from the copy of K, whose first elements it is. */
static void attend_copy_v(const struct attend_tile *t, size_t n)
{
	const struct attend *a = t->a;
	i32x16 v[16];

	for (size_t j = 0; j < n; j += KV_TILE)
		for (size_t d = 0; d < a->dim_v; d += LANES) {
			for (size_t i = 0; i < LANES; i++)
				v[i] = d + i < a->dim_v ? vf_as_int(vf_load(t->k + j * a->dim_k + (d + i) * KV_TILE))
					: vi_zero();
			vi_transpose(v);
			for (size_t i = 0; i < KV_TILE; i++)
				vi_store((int32_t *)t->v + d * ATTEND_BLOCK + (j + i) * LANES, v[i]);
		}
}

/* Copies what the tile sees of a block, as floats: K as it is, V by vectors, [out_dim/16][ATTEND_BLOCK][16], whose
 * lanes past dim_v are zero. Prefetches the next block, which arrives while this one is used. */
INLINE void attend_copy(const struct attend_tile *t, size_t first, enum kv_type type)
{
	const struct attend *a = t->a;
	size_t n = attend_seen(t, t->columns - 1, first);

	for (size_t j = 0; j < n; j += KV_TILE)
		for (size_t d = 0; d < a->dim_k; d++) {
			size_t at = j * a->dim_k + d * KV_TILE;

			vf_store(t->k + at, attend_load(type, t->now.k, at));
			attend_ahead((const char *)t->next.k + at * attend_size(type), LANES);
		}
	if (a->v_in_k)
		attend_copy_v(t, n);
	for (size_t j0 = 0; j0 < n; j0 += KV_TILE)
		for (size_t d = 0; d < attend_stored_v(a); d += LANES)
			for (size_t j = j0; j < n && j < j0 + KV_TILE; j++) {
				size_t at = j * a->dim_v + d;
				f32x16 x = d + LANES <= a->dim_v ? attend_load(type, t->now.v, at)
					: attend_load_n(type, t->now.v, at, a->dim_v - d);

				vf_store(t->v + d * ATTEND_BLOCK + j * LANES, x);
				attend_ahead((const char *)t->next.v + at * attend_size(type), LANES);
			}
}

INLINE void attend_panel(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type,
	struct k_tile k, struct v_rows v)
{
	switch (t->width) {
	case 1: attend_block(t, first, part, type, 1, k, v); break;
	case 2: attend_block(t, first, part, type, 2, k, v); break;
	case 3: attend_block(t, first, part, type, 3, k, v); break;
	default: attend_block(t, first, part, type, ATTEND_COLUMNS, k, v); break;
	}
}

/* Any block of K and V of this type of floats. */
INLINE void attend_typed(const struct attend_tile *t, size_t first, struct attend_state *part, enum kv_type type)
{
	if (t->direct) {
		struct k_tile k = { .k = t->now.k, .ahead = t->next.k };
		struct v_rows v = { .v = t->now.v, .ahead = t->next.v, .stride = t->a->dim_v, .apart = LANES };

		attend_panel(t, first, part, type, k, v);
		return;
	}
	attend_copy(t, first, type);
	attend_panel(t, first, part, KV_F32, (struct k_tile){ .k = t->k },
		(struct v_rows){ .v = t->v, .stride = LANES, .apart = ATTEND_BLOCK * LANES });
}

static struct kv_block attend_kv(const struct attend_tile *t, size_t first)
{
	const struct attend *a = t->a;

	return kv_block_at(a->type, a->dim_k, attend_stored_v(a),
		t->kv->extent[first / ATTEND_BLOCK] + t->kv->offset);
}

/* The block to prefetch while the one at `first` is used: the next one or, at the last, the first block of the next KV
 * head, which is mostly this thread's next item. (64 sequences of 100 positions, two threads of an AMD Zen 4: the op
 * takes 0.7 of the time.) Rows that share a copy of each block, as a prompt's do, gain nothing from that. */
static struct kv_block attend_next(const struct attend_tile *t, size_t first, size_t end)
{
	const struct attend *a = t->a;
	struct kv_head head = *t->kv;

	if (first + ATTEND_BLOCK < end)
		return attend_kv(t, first + ATTEND_BLOCK);
	if (!t->direct || t->kv->h + 1 == a->n_head_kv)
		return t->now;
	head.offset += kv_block_bytes(a->type, a->dim_k, attend_stored_v(a));
	return kv_block_at(a->type, a->dim_k, attend_stored_v(a),
		head.extent[attend_first_block(t, 0) / ATTEND_BLOCK] + head.offset);
}

/* Any block: the result for each column that sees it. end: the number of positions. */
static void attend_part(struct attend_tile *t, size_t first, size_t end, struct attend_state *part)
{
	t->now = attend_kv(t, first);
	t->next = attend_next(t, first, end);
	switch (t->a->type) {
	case KV_F16: attend_typed(t, first, part, KV_F16); break;
	case KV_F32: attend_typed(t, first, part, KV_F32); break;
	case KV_Q8_0: codes_block(t, first, part, KV_Q8_0); break;
	default: codes_block(t, first, part, KV_Q4_0); break;
	}
}

/* Adds the result of the block at `first` to that of the blocks before it: merged, or as it is where the column's
 * positions begin in it. */
static void attend_merge(const struct attend_tile *t, size_t first, const struct attend_state *part)
{
	size_t seen = attend_first_seeing(t, first), merged = attend_first_beginning(t, first);
	size_t end = attend_first_beginning(t, first + 1);

	for (size_t c = seen; c < merged; c += LANES) {
		f32x16 before = vf_load(t->all.max + c), now = vf_load(part->max + c), max = vf_max(before, now);
		f32x16 keep = vector_exp_low(vf_sub(before, max)), take = vector_exp_low(vf_sub(now, max));

		vf_store(t->all.max + c, max);
		vf_store(t->all.sum + c, vf_fma(vf_load(t->all.sum + c), keep, vf_mul(vf_load(part->sum + c), take)));
		vf_store(t->keep + c, keep);
		vf_store(t->take + c, take);
	}
	for (size_t c = seen; c < merged; c++) {
		f32x16 keep = vf_set1(t->keep[c]), take = vf_set1(t->take[c]);

		for (size_t i = c * t->out_dim; i < (c + 1) * t->out_dim; i += LANES)
			vf_store(t->all.o + i, vf_fma(vf_load(t->all.o + i), keep, vf_mul(vf_load(part->o + i), take)));
	}
	for (size_t c = merged > seen ? merged : seen; c < end; c++) {
		t->all.max[c] = part->max[c];
		t->all.sum[c] = part->sum[c];
		memcpy(t->all.o + c * t->out_dim, part->o + c * t->out_dim, t->out_dim * sizeof(float));
	}
}

/* ---- tiles of rows ---- */

static size_t vector_attend_scratch(size_t dim_k, size_t dim_v, size_t group)
{
	struct attend_tile t;

	return attend_layout(&t, NULL, attend_columns(group), dim_k, dim_v) * sizeof(float);
}

/* The sink as one more score, whose value is zero. */
static void attend_sink(const struct attend_tile *t, size_t c, float sink)
{
	float max = t->all.max[c] > sink ? t->all.max[c] : sink;
	float keep = exp_of(t->all.max[c] - max), *o = t->all.o + c * t->out_dim;

	t->all.sum[c] = fmaf(t->all.sum[c], keep, exp_of(sink - max));
	for (size_t i = 0; i < t->out_dim; i += LANES)
		vf_store(o + i, vf_mul(vf_load(o + i), vf_set1(keep)));
}

static void attend_write(const struct attend_tile *t, size_t h)
{
	const struct attend *a = t->a;

	for (size_t c = 0; a->sink && c < t->columns; c++)
		attend_sink(t, c, a->sink[h * t->group + c % t->group]);

	for (size_t c = 0; c < t->columns; c++) {
		float *out = a->out + ((t->row + c / t->group) * a->n_head + h * t->group + c % t->group) * a->dim_v;
		const float *o = t->all.o + c * t->out_dim;
		f32x16 sum = vf_set1(t->all.sum[c]);

		for (size_t d = 0; d + LANES <= a->dim_v; d += LANES)
			vf_store(out + d, vf_div(vf_load(o + d), sum));
		for (size_t d = a->dim_v / LANES * LANES; d < a->dim_v; d++)
			out[d] = o[d] / t->all.sum[c];
		if (kv_coded(a->type))
			cache_rotate(out, a->dim_v, kv_rotated(a->v_in_k ? a->dim_k : a->dim_v));
	}
}

/* Copies the queries of KV head h. */
static void attend_take(const struct attend_tile *t, size_t h)
{
	if (kv_coded(t->a->type))
		codes_pack(t, h);
	else
		attend_pack(t, h);
}

static void vector_attend(const struct attend *a, const struct kv_head *kv, size_t i0, size_t i1, void *scratch)
{
	struct attend_tile t = { .a = a, .kv = kv, .group = a->n_head / a->n_head_kv };
	size_t rows = t.group < ATTEND_MOST ? ATTEND_MOST / t.group : 1;

	attend_layout(&t, scratch, attend_columns(t.group), a->dim_k, a->dim_v);
	for (t.row = i0; t.row < i1; t.row += rows) {
		size_t n = i1 - t.row < rows ? i1 - t.row : rows, end = attend_end(a, a->pos + t.row + n - 1);
		size_t first = attend_first_block(&t, 0);

		attend_panels(&t, n * t.group);
		attend_take(&t, kv->h);
		attend_part(&t, first, end, &t.all);
		while ((first += ATTEND_BLOCK) < end) {
			attend_part(&t, first, end, &t.part);
			attend_merge(&t, first, &t.part);
		}
		attend_write(&t, kv->h);
	}
}

/* ---- block by block ---- */

static size_t vector_attend_partial(size_t dim_v, size_t columns)
{
	return (2 * attend_each(columns) + attend_filled(columns) * attend_out_dim(dim_v)) * sizeof(float);
}

static struct attend_state attend_state_at(const struct attend_tile *t, void *partials, size_t b)
{
	float *at = (float *)partials + b * vector_attend_partial(t->a->dim_v, t->columns) / sizeof(float);
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

static void vector_attend_blocks(const struct attend *a, const struct kv_head *kv, size_t n, size_t b0, size_t b1,
	void *partials, void *scratch)
{
	struct attend_tile t = { .a = a, .kv = kv };

	attend_few(&t, n, scratch);
	attend_take(&t, kv->h);
	for (size_t b = size_max(b0, attend_first_block(&t, 0) / ATTEND_BLOCK); b < b1; b++) {
		struct attend_state part = attend_state_at(&t, partials, b);

		attend_part(&t, b * ATTEND_BLOCK, attend_end(a, a->pos + n - 1), &part);
	}
}

static void vector_attend_join(const struct attend *a, size_t h, size_t n, void *partials, void *scratch)
{
	struct attend_tile t = { .a = a };
	size_t first, end = attend_end(a, a->pos + n - 1);

	attend_few(&t, n, scratch);
	first = attend_first_block(&t, 0);
	t.all = attend_state_at(&t, partials, first / ATTEND_BLOCK);
	while ((first += ATTEND_BLOCK) < end) {
		struct attend_state part = attend_state_at(&t, partials, first / ATTEND_BLOCK);

		attend_merge(&t, first, &part);
	}
	attend_write(&t, h);
}

#endif
