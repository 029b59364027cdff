/* store: writes K and V of the batch to the segments of their sequences. It has the items of prepare. */
#include "kinds.h"

struct kv_head kv_head_of(const struct op_attention *a, const struct segment *state, size_t head)
{
	enum kv_type type = (enum kv_type)state->shape.kv_type;
	size_t block = kv_block_bytes(type, a->heads.dim_k, attend_stored_v(&a->heads));

	return (a->recent ? segment_recent_head : segment_head)(state, a->offset[type] + head * block, head);
}

static void item(const struct op *op, const struct step *s, size_t item, size_t thread)
{
	const struct op_attention *a = op->bound;
	const struct attend *d = &a->heads;
	struct kv_rows t = kv_rows_of(a, s, item);
	const struct segment *state = t.run->state;
	struct kv_head kv = kv_head_of(a, state, t.head);

	for (size_t row = t.from; row < t.to; row++) {
		size_t pos = t.run->pos + row - t.run->first;
		struct kv_block block = kv_block_at(state->shape.kv_type, d->dim_k, attend_stored_v(d),
			kv.extent[pos / KV_EXTENT] + kv.offset);
		const float *k = buffer_row(&a->k, row) + t.head * d->dim_k;
		const float *v = a->v.at ? buffer_row(&a->v, row) + t.head * d->dim_v : k;

		s->k->kv_store(state->shape.kv_type, &block, d->dim_k, attend_stored_v(d), pos % KV_EXTENT, k, v);
	}
}

static int follows(const struct op *op, const struct step *s)
{
	return 1;
}

static void uses(void *bound, struct uses *u)
{
	struct op_attention *a = bound;

	u->rows(u, &a->k, a->heads.n_head_kv * a->heads.dim_k, USE_READ);
	u->rows(u, &a->v, a->heads.n_head_kv * a->heads.dim_v, USE_READ);
}

const struct op_kind op_store = { .name = "store", .uses = uses, .all_rows = 1, .items = kv_rows_items, .item = item,
	.follows = follows };
