/* prepare: norms and rotates the heads of q and k. A work item is one KV head in a tile of positions, with the queries
 * that read this head. */
#include "kinds.h"

#include "lib/base/fmath.h"
#include "lib/base/size.h"

size_t kv_rows_items(const struct op *op, const struct step *s)
{
	const struct op_attention *a = op->bound;
	size_t tiles = 0;

	for (size_t i = 0; i < s->n_runs; i++) {
		s->first_item[i] = tiles * a->heads.n_head_kv;
		tiles += size_divide_up(s->run[i].n, KV_TILE);
	}
	return tiles * a->heads.n_head_kv;
}

struct kv_rows kv_rows_of(const struct op_attention *a, const struct step *s, size_t item)
{
	const struct run *r = step_run(s, item);
	size_t heads = a->heads.n_head_kv, tile = (item - s->first_item[r - s->run]) / heads;

	return (struct kv_rows){ .run = r, .head = item % heads, .from = r->first + tile * KV_TILE,
		.to = r->first + size_min((tile + 1) * KV_TILE, r->n) };
}

/* Applies the temperature of this position to queries. */
static void temper(const struct temperature *t, const struct step *s, float *q, size_t n, size_t pos)
{
	double factor = 1 + (double)t->scale * fmath_log(1 + (double)((pos + t->offset) / t->length));

	s->k->scale(q, q, (float)factor, n);
}

/* Norms and rotates one head of q or k. */
static void prepare_head(const struct op_attention *a, const struct step *s, float *x, struct norm norm, size_t head,
	size_t row)
{
	const struct rope *r = a->rope;

	if (norm.weight)
		norm.weight += head * a->norm_step;
	if (norm.bias)
		norm.bias += head * a->norm_step;
	if (norm.kind && !a->late)
		s->k->norm(&norm, x, x, a->heads.dim_k);
	if (r)
		s->k->rope(a->pairs, x + a->rope_at, r->cos + row * r->pairs, r->sin + row * r->pairs, 2 * r->pairs);
	if (norm.kind && a->late)
		s->k->norm(&norm, x, x, a->heads.dim_k);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_attention *a = op->bound;
	const struct attend *d = &a->heads;
	struct kv_rows t = kv_rows_of(a, s, item);
	size_t group = d->n_head / d->n_head_kv;

	for (size_t row = t.from; row < t.to; row++) {
		float *q = a->q.at ? buffer_row(&a->q, row) : NULL, *v;

		if (a->k.at)
			prepare_head(a, s, buffer_row(&a->k, row) + t.head * d->dim_k, a->k_norm, t.head, row);
		if (a->v_norm.kind) {
			v = buffer_row(&a->v, row) + t.head * d->dim_v;
			s->k->norm(&a->v_norm, v, v, d->dim_v);
		}
		for (size_t head = t.head * group; q && head < (t.head + 1) * group; head++)
			prepare_head(a, s, q + head * d->dim_k, a->q_norm, head, row);
		if (a->temperature.scale > 0)
			temper(&a->temperature, s, q + t.head * group * d->dim_k, group * d->dim_k,
				s->pos[row]);
	}
}

static void uses(void *bound, struct uses *u)
{
	struct op_attention *a = bound;

	u->rows(u, &a->q, a->heads.n_head * a->heads.dim_k, USE_CHANGE);
	u->rows(u, &a->k, a->heads.n_head_kv * a->heads.dim_k, USE_CHANGE);
	u->rows(u, &a->v, a->heads.n_head_kv * a->heads.dim_v, USE_CHANGE);
}

const struct op_kind op_prepare = { .name = "prepare", .uses = uses, .all_rows = 1, .items = kv_rows_items,
	.item = item };
