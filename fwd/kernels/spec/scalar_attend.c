/* scalar_attend: attention from its definition in kernels.h, one query and one position at a time. The specification of
 * attend.h. */
#include "scalar.h"

#include <math.h>

#include "lib/base/half.h"
#include "lib/base/size.h"
#include "fwd/kernels/exp.h"

/* ---- the cache: position j of a block ---- */

static void put(enum kv_type type, void *to, size_t i, float x)
{
	if (type == KV_F16)
		((uint16_t *)to)[i] = f32_to_f16(x);
	else
		((float *)to)[i] = x;
}

void scalar_kv_store(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j, const float *k,
	const float *v)
{
	if (kv_coded(type)) {
		scalar_store_codes(type, kv, dim_k, dim_v, j, k, v);
		return;
	}
	for (size_t d = 0; d < dim_k; d++)
		put(type, kv->k, kv_k_index(type, dim_k, j, d), k[d]);
	for (size_t d = 0; d < dim_v; d++)
		put(type, kv->v, kv_v_index(type, dim_v, j, d), v[d]);
}

static float get(enum kv_type type, const void *from, size_t i)
{
	return type == KV_F16 ? f16_to_f32(((const uint16_t *)from)[i]) : ((const float *)from)[i];
}

/* ---- scores, and sums over V ---- */

/* s[j] = sum(q · k[j]) · scale for j < n */
static void float_scores(const struct attend *a, const struct kv_block *kv, const float *q, size_t n, float *s)
{
	for (size_t j = 0; j < n; j++) {
		float acc[16] = { 0 };

		for (size_t d = 0; d < a->dim_k; d++)
			acc[d % 16] = fmaf(q[d], get(a->type, kv->k, kv_k_index(a->type, a->dim_k, j, d)),
				acc[d % 16]);
		s[j] = scalar_tree(acc) * a->scale;
	}
}

/* o[d] = the sum of p[j] · v[j][d] over j from j0 to before n */
static void float_sums(const struct attend *a, const struct kv_block *kv, const float *p, size_t j0, size_t n,
	float *o)
{
	for (size_t d = 0; d < a->dim_v; d++) {
		o[d] = 0;
		for (size_t j = j0; j < n; j++)
			o[d] = fmaf(p[j], a->v_in_k ? get(a->type, kv->k, kv_k_index(a->type, a->dim_k, j, d))
				: get(a->type, kv->v, kv_v_index(a->type, a->dim_v, j, d)), o[d]);
	}
}

/* ---- one block of positions, seen by one query ---- */

struct partial {        /* the result for one query of one block, or of all blocks so far */
	float max, sum;
	float o[];      /* [dim_v], not yet divided by sum */
};

/* The score of the key at position `first` + j for a query of this head at position p, from the product s. */
static float score(const struct attend *a, size_t head, size_t p, size_t first, size_t j, float s)
{
	if (first + j < attend_from(a, p))
		return -INFINITY;
	if (a->cap > 0)
		s = exp_tanh(s / a->cap) * a->cap;
	if (a->slope)
		s = fmaf(a->slope[head], -fabsf((float)(first + j) - (float)p), s);
	if (a->bias)
		s += attend_biases(a, head, p, first)[j];
	return s;
}

/* Block b for the query of row i and this head, which sees at least one of its positions. */
static void attend_block(const struct attend *a, const struct kv_head *kv, size_t i, size_t head, size_t b,
	struct partial *part)
{
	const struct kv_block block = kv_block_at(a->type, a->dim_k, attend_stored_v(a),
		kv->extent[b] + kv->offset);
	const float *q = a->q + i * a->q_stride + head * a->dim_k;
	size_t p = a->pos + i, first = b * ATTEND_BLOCK, n = size_min(attend_end(a, p) - first, ATTEND_BLOCK);
	int codes = kv_coded(a->type);
	float s[ATTEND_BLOCK], acc[16] = { 0 };

	if (codes)
		scalar_code_scores(a, &block, q, n, s);
	else
		float_scores(a, &block, q, n, s);
	part->max = -INFINITY;
	for (size_t j = 0; j < n; j++) {
		s[j] = score(a, head, p, first, j, s[j]);
		part->max = s[j] > part->max ? s[j] : part->max;
	}
	for (size_t j = 0; j < n; j++) {
		s[j] = exp_of(s[j] - part->max);
		acc[j % 16] += s[j];
	}
	part->sum = scalar_tree(acc);
	if (codes)
		scalar_code_sums(a, &block, s, n, part->o);
	else
		float_sums(a, &block, s, size_min(attend_unseen(a, first), n), n, part->o);
}

/* Merges the result of the next block into that of the blocks before it. */
static void merge(struct partial *all, const struct partial *part, size_t dim_v)
{
	float max = all->max > part->max ? all->max : part->max;
	float keep = exp_of(all->max - max), take = exp_of(part->max - max);

	all->max = max;
	all->sum = fmaf(all->sum, keep, part->sum * take);
	for (size_t d = 0; d < dim_v; d++)
		all->o[d] = fmaf(all->o[d], keep, part->o[d] * take);
}

static void add_sink(struct partial *all, float sink, size_t dim_v)
{
	float max = all->max > sink ? all->max : sink;
	float keep = exp_of(all->max - max);

	all->sum = fmaf(all->sum, keep, exp_of(sink - max));
	for (size_t d = 0; d < dim_v; d++)
		all->o[d] *= keep;
}

static void write_out(const struct attend *a, size_t i, size_t head, struct partial *all)
{
	float *out = a->out + (i * a->n_head + head) * a->dim_v;

	if (a->sink)
		add_sink(all, a->sink[head], a->dim_v);

	for (size_t d = 0; d < a->dim_v; d++)
		out[d] = all->o[d] / all->sum;
	if (kv_coded(a->type))
		scalar_rotate(out, a->dim_v, kv_rotated(a->v_in_k ? a->dim_k : a->dim_v));
}

/* ---- all blocks ---- */

static size_t part_bytes(size_t dim_v)
{
	return (sizeof(struct partial) + dim_v * sizeof(float) + 63) / 64 * 64;
}

/* The blocks that row i sees, at least in part: from first_block() to before last_block(). */
static size_t first_block(const struct attend *a, size_t i)
{
	return attend_from(a, a->pos + i) / ATTEND_BLOCK;
}

static size_t last_block(const struct attend *a, size_t i)
{
	return (attend_end(a, a->pos + i) - 1) / ATTEND_BLOCK + 1;
}

size_t scalar_attend_scratch(size_t dim_k, size_t dim_v, size_t group)
{
	return 2 * part_bytes(dim_v);
}

void scalar_attend(const struct attend *a, const struct kv_head *kv, size_t i0, size_t i1, void *scratch)
{
	size_t group = a->n_head / a->n_head_kv;
	struct partial *all = scratch, *part = (void *)((char *)scratch + part_bytes(a->dim_v));

	for (size_t i = i0; i < i1; i++)
		for (size_t head = kv->h * group; head < (kv->h + 1) * group; head++) {
			size_t b = first_block(a, i);

			attend_block(a, kv, i, head, b, all);
			while (++b < last_block(a, i)) {
				attend_block(a, kv, i, head, b, part);
				merge(all, part, a->dim_v);
			}
			write_out(a, i, head, all);
		}
}

/* ---- block by block ---- */

size_t scalar_attend_partial(size_t dim_v, size_t columns)
{
	return columns * part_bytes(dim_v);
}

/* The result of block b for row i and one of the KV head's queries. */
static struct partial *part_at(const struct attend *a, void *partials, size_t n, size_t b, size_t i, size_t query)
{
	size_t group = a->n_head / a->n_head_kv;

	return (void *)((char *)partials + ((b * n + i) * group + query) * part_bytes(a->dim_v));
}

void scalar_attend_blocks(const struct attend *a, const struct kv_head *kv, size_t n, size_t b0, size_t b1,
	void *partials, void *scratch)
{
	size_t group = a->n_head / a->n_head_kv;

	for (size_t i = 0; i < n; i++)
		for (size_t query = 0; query < group; query++)
			for (size_t b = size_max(b0, first_block(a, i)); b < b1 && b < last_block(a, i); b++)
				attend_block(a, kv, i, kv->h * group + query, b, part_at(a, partials, n, b, i, query));
}

void scalar_attend_join(const struct attend *a, size_t h, size_t n, void *partials, void *scratch)
{
	size_t group = a->n_head / a->n_head_kv;

	for (size_t i = 0; i < n; i++)
		for (size_t query = 0; query < group; query++) {
			size_t b = first_block(a, i);
			struct partial *all = part_at(a, partials, n, b, i, query);

			while (++b < last_block(a, i))
				merge(all, part_at(a, partials, n, b, i, query), a->dim_v);
			write_out(a, i, h * group + query, all);
		}
}
