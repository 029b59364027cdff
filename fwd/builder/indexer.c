/* Sparse attention (DeepSeek-AI 2025): the layout of what segments keep for each group of positions, the indexer that
 * chooses among the groups, and attention to the chosen ones. */
#include "build.h"

#include <math.h>
#include <string.h>

#include "fwd/model/family.h"
#include "lib/base/size.h"

struct grouped *build_grouped(struct builder *b, size_t ratio, size_t n, size_t *offset)
{
	struct grouped *g = b->plan->grouped;

	while (g->ratio && g->ratio != ratio)
		g++;
	g->ratio = ratio;
	*offset = build_reserve(b, &g->floats, n);
	return g;
}

void build_lay_out_groups(struct builder *b)
{
	struct plan *p = b->plan;

	for (struct grouped *g = p->grouped; g < p->grouped + GROUPINGS && g->ratio; g++) {
		size_t n = KV_EXTENT / g->ratio;

		g->floats = size_divide_up(g->floats, 16) * 16;
		shape_add_heads(p->heads[0], (struct segment_heads){ (uint32_t)n, 0, (uint32_t)g->floats });
		for (int type = 0; type < KV_TYPES; type++) {
			g->at[type] = p->extent_bytes[type];
			p->extent_bytes[type] += n * g->floats * sizeof(float);
		}
	}
}

static const struct rope *rope(struct builder *b, size_t every)
{
	return b->model->family->unrotated ? NULL : build_rope(b, &b->model->rope, every);
}

/* Chooses among the groups with these keys. Queries and weights are in plan->indexer. */
static void choose(struct builder *b, const struct grouped *keys, size_t offset)
{
	const struct indexer *i = &b->model->indexer;
	const struct indexer_buffers *to = &b->plan->indexer;
	struct op_choose o = { .heads = i->heads, .n = i->dim, .top = i->top, .ratio = keys ? keys->ratio : 1,
		.rope_at = i->rope_at, .scale = 1 / sqrtf((float)(i->heads * i->dim)), .q = to->q,
		.weight = to->weight, .pairs = i->pairs, .rope = rope(b, 1), .kept = keys,
		.offset = offset, .split = i->split, .chosen = to->chosen };
	struct op *op;

	if (i->local) {
		o.block = b->layer->ratio;
		o.local = i->local;
	} else if ((op = build_append(b, &op_index, NULL, &o, sizeof o))) {
		op->scratch = choose_scratch(&o, 0);
		op->block_bytes = choose_index_bytes(&o);
	}
	if ((op = build_append(b, &op_choose, NULL, &o, sizeof o)))
		op->scratch = choose_scratch(&o, b->model->n_ctx_max);
}

void build_choose(struct builder *b, struct packed *x, struct packed *q_low, const struct grouped *keys, size_t offset)
{
	const struct indexer *i = &b->model->indexer;
	const struct indexer_buffers *to = &b->plan->indexer;

	build_product(b, q_low, "indexer.attn_q_b", WIDE, i->heads * i->dim, to->q);
	build_product(b, x, "indexer.proj", WIDE, i->heads, to->weight);
	choose(b, keys, offset);
}

static struct norm key_norm(struct builder *b)
{
	const struct indexer *i = &b->model->indexer;

	return (struct norm){ .kind = NORM_LAYER, .eps = i->eps,
		.weight = build_vector(b, "indexer.k_norm", "weight", i->dim),
		.bias = build_vector(b, "indexer.k_norm", "bias", i->dim) };
}

/* Norms and rotates the keys in indexer.key, one for each group of `ratio` positions, and keeps them in the state. */
static struct op_keep_group keep_keys(struct builder *b, size_t ratio, struct norm norm)
{
	const struct indexer *i = &b->model->indexer;
	struct op_keep_group key = { .n = i->dim, .ratio = ratio, .rope_at = i->rope_at, .x = b->plan->indexer.key,
		.norm = norm, .pairs = i->pairs, .rope = rope(b, ratio) };

	key.kept = build_grouped(b, ratio, key.n, &key.offset);
	build_append(b, &op_keep_group, "indexer_key", &key, sizeof key);
	return key;
}

/* Makes the keys of groups from the keys and scores of their positions, in indexer.rows. position_bias: see struct
 * op_compress. */
static struct op_keep_group make_group_keys(struct builder *b, const float *position_bias, struct norm norm)
{
	const struct indexer_buffers *to = &b->plan->indexer;
	struct op_compress sum = { .n = b->model->indexer.dim, .ratio = b->layer->ratio, .position_bias = position_bias,
		.rows = to->rows, .out = to->key };

	sum.ring = build_ring(b, 2 * sum.n * sizeof(float));
	sum.state = build_state(b, 3 * sum.n);
	build_append(b, &op_compress, "indexer_sum", &sum, sizeof sum);
	return keep_keys(b, sum.ratio, norm);
}

/* The key of a group is the sum of its positions' normed keys, weighted by a softmax of gates. The architectures
 * glm5next and glm5-next have different names for these tensors. */
static void index_gated_groups(struct builder *b, struct packed *x, struct packed *q_low)
{
	size_t n = b->model->indexer.dim;
	struct buffer rows = b->plan->indexer.rows;
	struct op_rows norm = { .n = n, .in = rows, .out = rows, .norm = key_norm(b) };
	struct op_product o = { .x = x };
	struct op_keep_group key;
	int other = build_has(b, "indexer.kpool_gate");
	const char *gate = other ? "indexer.kpool_gate" : "indexer_compressor_gate";
	const char *position_bias = other ? "indexer.kpool_ape" : "indexer_compressor_ape";

	build_add_product(b, &o, "indexer.attn_k", WIDE, n, rows);
	build_add_product(b, &o, gate, WIDE, n, buffer_at(rows, n));
	build_products(b, "indexer.attn_k", &o);
	build_append(b, &op_rows, "indexer.k_norm", &norm, sizeof norm);
	key = make_group_keys(b, build_table(b, position_bias, "weight", b->layer->ratio, n),
		(struct norm){ .kind = NORM_NONE });
	build_choose(b, x, q_low, key.kept, key.offset);
}

void build_index(struct builder *b, struct packed *x, struct packed *q_low)
{
	struct op_keep_group key;

	if (b->layer->ratio) {
		index_gated_groups(b, x, q_low);
		return;
	}
	build_product(b, x, "indexer.attn_k", WIDE, b->model->indexer.dim, b->plan->indexer.key);
	key = keep_keys(b, 1, key_norm(b));
	build_choose(b, x, q_low, key.kept, key.offset);
}

/* Norms the queries, head by head. */
static void norm_queries(struct builder *b)
{
	const struct indexer *i = &b->model->indexer;
	struct op_rows o = { .n = i->heads * i->dim, .in = b->plan->indexer.q, .out = b->plan->indexer.q,
		.norms = i->heads };

	o.norm = build_norm_of(b, "indexer.q_norm", i->dim);
	o.norm.weight = build_tiled(b, o.norm.weight, i->dim, i->heads);
	build_append(b, &op_rows, "indexer.q_norm", &o, sizeof o);
}

/* Each head chooses for one KV head, by keys of single positions. */
static void index_by_head(struct builder *b, struct packed *x)
{
	const struct indexer *i = &b->model->indexer;
	const struct indexer_buffers *to = &b->plan->indexer;
	struct op_product o = { .x = x };
	struct op_keep_group key;

	build_add_product(b, &o, "indexer.q_proj", WIDE, i->heads * i->dim, to->q);
	build_add_product(b, &o, "indexer.k_proj", WIDE, i->dim, to->key);
	build_products(b, "indexer.qk_proj", &o);
	key = keep_keys(b, 1, build_norm_of(b, "indexer.k_norm", i->dim));
	norm_queries(b);
	choose(b, key.kept, key.offset);
}

void build_index_groups(struct builder *b, struct packed *x)
{
	const struct indexer *i = &b->model->indexer;
	const struct indexer_buffers *to = &b->plan->indexer;
	size_t n = b->layer->ratio * i->dim;
	struct op_product o = { .x = x };
	struct op_keep_group key;
	float *position_bias;

	if (i->local) {
		index_by_head(b, x);
		return;
	}
	position_bias = build_allocate(b, n * sizeof *position_bias);
	build_add_product(b, &o, "indexer.q_proj", WIDE, i->heads * i->dim, to->q);
	build_add_product(b, &o, "indexer.k_proj", WIDE, i->dim, to->rows);
	build_products(b, "indexer.qk_proj", &o);
	if (position_bias)
		memset(position_bias, 0, n * sizeof *position_bias);
	key = make_group_keys(b, position_bias, build_norm_of(b, "indexer.k_norm", i->dim));
	norm_queries(b);
	choose(b, key.kept, key.offset);
}

size_t build_chosen_size(const struct builder *b)
{
	return b->layer->ratio && !b->model->indexer.split ? b->layer->ratio : 1;
}

void build_attend_groups(struct builder *b, const struct op_attention *a)
{
	struct op_attend_groups o = { .attention = *a, .ratio = b->layer->ratio, .kept = b->compressed.kept,
		.offset = b->compressed.offset, .chosen = b->plan->indexer.chosen,
		.top = b->layer->sparse ? b->model->indexer.top : 0, .by_head = b->model->indexer.local > 0 };
	struct op *op;

	if (!b->model->compressed.rank_q)
		o.ratio = build_chosen_size(b);
	if ((op = build_append(b, &op_attend_groups, NULL, &o, sizeof o)))
		op->scratch = attend_groups_scratch(&o, b->plan->setup.kernels, b->model->n_ctx_max);
	build_output(op, 0, "", o.attention.out, a->heads.n_head * a->heads.dim_v);
}
