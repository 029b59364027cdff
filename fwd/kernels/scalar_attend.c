/* scalar_attend: attention from its definition in kernels.h, one query and one position at a time. The specification of attend.h. */
#include "scalar_vector.h"

#include <math.h>

#include "exp.h"

/* ---- the cache: K in tiles of 16 positions, V by rows ---- */

static size_t k_index(size_t dim_k, size_t pos, size_t d)
{
	return (pos / KV_TILE * dim_k + d) * KV_TILE + pos % KV_TILE;
}

static void put(enum kv_type type, void *to, size_t i, float x)
{
	if (type == KV_F16)
		((uint16_t *)to)[i] = f32_to_f16(x);
	else
		((float *)to)[i] = x;
}

static float get(enum kv_type type, const void *from, size_t i)
{
	return type == KV_F16 ? f16_to_f32(((const uint16_t *)from)[i]) : ((const float *)from)[i];
}

void scalar_kv_store(enum kv_type type, struct kv_head *kv, size_t dim_k, size_t dim_v, size_t pos, const float *k, const float *v)
{
	for (size_t d = 0; d < dim_k; d++)
		put(type, kv->k, k_index(dim_k, pos, d), k[d]);
	for (size_t d = 0; d < dim_v; d++)
		put(type, kv->v, pos * dim_v + d, v[d]);
}

/* ---- one block of positions, seen by one query ---- */

struct part {           /* what a run of positions says of one query */
	float max, sum;
	float *o;       /* [dim_v], not yet divided by sum */
};

static float score(const struct attend *a, const struct kv_head *kv, const float *q, size_t pos)
{
	float acc[16] = { 0 };

	for (size_t d = 0; d < a->dim_k; d++)
		acc[d % 16] = fmaf(q[d], get(a->type, kv->k, k_index(a->dim_k, pos, d)), acc[d % 16]);
	return scalar_tree(acc) * a->scale;
}

/* Positions [first, first + n) alone, n from 1 to ATTEND_BLOCK. */
static void attend_block(const struct attend *a, const struct kv_head *kv, const float *q, size_t first, size_t n, struct part *part)
{
	float s[ATTEND_BLOCK], acc[16] = { 0 };

	part->max = -INFINITY;
	for (size_t j = 0; j < n; j++) {
		s[j] = score(a, kv, q, first + j);
		part->max = s[j] > part->max ? s[j] : part->max;
	}
	for (size_t d = 0; d < a->dim_v; d++)
		part->o[d] = 0;
	for (size_t j = 0; j < n; j++) {
		float p = exp_of(s[j] - part->max);

		acc[j % 16] += p;
		for (size_t d = 0; d < a->dim_v; d++)
			part->o[d] = fmaf(p, get(a->type, kv->v, (first + j) * a->dim_v + d), part->o[d]);
	}
	part->sum = scalar_tree(acc);
}

/* Takes the next block's part into the sum of those before. */
static void merge(struct part *all, const struct part *part, size_t dim_v)
{
	float max = all->max > part->max ? all->max : part->max;
	float keep = exp_of(all->max - max), take = exp_of(part->max - max);

	all->max = max;
	all->sum = fmaf(all->sum, keep, part->sum * take);
	for (size_t d = 0; d < dim_v; d++)
		all->o[d] = fmaf(all->o[d], keep, part->o[d] * take);
}

size_t scalar_attend_scratch(size_t dim_k, size_t dim_v, size_t group)
{
	return 2 * dim_v * sizeof(float);
}

void scalar_attend(const struct attend *a, const struct kv_head *kv, size_t h, size_t i0, size_t i1, void *scratch)
{
	size_t group = a->n_head / a->n_head_kv;
	float *blocks = scratch;

	for (size_t i = i0; i < i1; i++)
		for (size_t head = h * group; head < (h + 1) * group; head++) {
			const float *q = a->q + i * a->q_stride + head * a->dim_k;
			float *out = a->out + (i * a->n_head + head) * a->dim_v;
			struct part all = { .o = blocks }, part = { .o = blocks + a->dim_v };
			size_t n = a->pos + i + 1;

			attend_block(a, kv, q, 0, n < ATTEND_BLOCK ? n : ATTEND_BLOCK, &all);
			for (size_t first = ATTEND_BLOCK; first < n; first += ATTEND_BLOCK) {
				attend_block(a, kv, q, first, n - first < ATTEND_BLOCK ? n - first : ATTEND_BLOCK, &part);
				merge(&all, &part, a->dim_v);
			}
			for (size_t d = 0; d < a->dim_v; d++)
				out[d] = all.o[d] / all.sum;
		}
}
