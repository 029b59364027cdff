/* Sparse attention (DeepSeek-AI 2025): the layout of what segments keep for each group of positions, the indexer that
 * chooses among the groups, and attention to the chosen ones. */
#include "indexer.h"

#include <math.h>

#include "build.h"
#include "compressed.h"

#include "fwd/model/layers.h"
#include "lib/base/size.h"

struct indexer *indexer_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct indexer));
}

int indexer_read(struct model *m, struct why *w)
{
	struct indexer *x = indexer_of(m);

	m->sparse = 1;
	m->n_ctx_max = INDEXED_CTX_MAX;
	x->pairs = m->pairs;
	x->eps = 1e-6f;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].sparse = CHOOSES;
	return key_required(m, "attention.indexer.head_count", 1, 1 << 10, &x->heads, w) < 0
		|| key_required(m, "attention.indexer.key_length", size_max(m->rope.n_rot, 1), DIM_MAX, &x->dim, w) < 0
		|| key_required(m, "attention.indexer.top_k", 1, 1 << 17, &x->top, w) < 0 ? -1 : 0;
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

/* Chooses among the groups with these keys, by queries [heads][dim] and weights [heads]. */
static void choose(struct builder *b, struct kept_groups keys, struct value *q, struct buffer weight)
{
	const struct indexer *i = indexer_of(b->model);
	struct op_choose o = { .heads = i->heads, .n = i->dim, .top = i->top, .ratio = keys.in->ratio,
		.rope_at = i->rope_at, .scale = 1 / sqrtf((float)(i->heads * i->dim)), .q = rows_of(q),
		.weight = weight, .pairs = i->pairs, .rope = rope(b, 1), .kept = keys.in, .offset = keys.offset,
		.split = i->split };
	struct op *op;

	b->chosen = build_value(b, i->top * (i->local ? i->heads : 1));
	b->chosen->in->stays = "it uses the choice of an earlier layer's indexer";
	o.chosen = rows_of(b->chosen);
	if (i->local) {
		o.block = b->layer->ratio;
		o.local = i->local;
	} else if ((op = build_op(b, build_append(b, &op_index, NULL, &o, sizeof o)))) {
		op->scratch = choose_scratch(&o, 0);
		op->block_bytes = choose_index_bytes(&o);
	}
	if ((op = build_op(b, build_append(b, &op_choose, NULL, &o, sizeof o))))
		op->scratch = choose_scratch(&o, b->model->n_ctx_max);
}

void build_choose(struct builder *b, struct value *x, struct value *q_low, struct kept_groups keys)
{
	const struct indexer *i = indexer_of(b->model);
	struct value *q = build_product(b, q_low, "indexer.attn_q_b", WIDE, i->heads * i->dim);

	choose(b, keys, q, rows_of(build_product(b, x, "indexer.proj", WIDE, i->heads)));
}

static struct norm key_norm(struct builder *b)
{
	const struct indexer *i = indexer_of(b->model);

	return (struct norm){ .kind = NORM_LAYER, .eps = i->eps,
		.weight = build_vector(b, "indexer.k_norm", "weight", i->dim),
		.bias = build_vector(b, "indexer.k_norm", "bias", i->dim) };
}

/* Norms and rotates keys, one for each group of `ratio` positions, and keeps them in the state. */
static struct kept_groups keep_keys(struct builder *b, struct value *keys, size_t ratio, struct norm norm)
{
	const struct indexer *i = indexer_of(b->model);
	struct kept_groups kept = build_grouped(b, ratio, i->dim);
	struct op_keep_group o = { .n = i->dim, .ratio = ratio, .rope_at = i->rope_at, .x = rows_of(keys),
		.norm = norm, .pairs = i->pairs, .rope = rope(b, ratio), .kept = kept.in, .offset = kept.offset };

	build_append(b, &op_keep_group, "indexer_key", &o, sizeof o);
	return kept;
}

/* Makes the keys of groups from the keys and scores of their positions. position_bias: see struct op_compress. */
static struct kept_groups make_group_keys(struct builder *b, struct value *keys, struct buffer scores,
	const float *position_bias, struct norm norm)
{
	struct value *made = build_value(b, keys->n);
	struct op_compress sum = { .n = keys->n, .ratio = b->layer->ratio, .position_bias = position_bias,
		.values = rows_of(keys), .scores = scores, .out = rows_of(made) };

	sum.ring = build_ring(b, 2 * sum.n * sizeof(float));
	sum.state = build_state(b, 3 * sum.n, 0);
	build_append(b, &op_compress, "indexer_sum", &sum, sizeof sum);
	return keep_keys(b, made, sum.ratio, norm);
}

/* The key of a group is the sum of its positions' normed keys, weighted by a softmax of gates. The architectures
 * glm5next and glm5-next have different names for these tensors. */
static void index_gated_groups(struct builder *b, struct value *x, struct value *q_low)
{
	size_t n = indexer_of(b->model)->dim;
	struct value *keys = build_value(b, n), *scores = build_value(b, n);
	struct op_rows norm = { .norm = key_norm(b) };
	struct op_product o = build_products_of(b, x);
	int other = build_has(b, "indexer.kpool_gate");
	const char *gate = other ? "indexer.kpool_gate" : "indexer_compressor_gate";
	const char *position_bias = other ? "indexer.kpool_ape" : "indexer_compressor_ape";

	build_add_product(b, &o, "indexer.attn_k", WIDE, keys);
	build_add_product(b, &o, gate, WIDE, scores);
	build_products(b, "indexer.attn_k", &o);
	keys = build_rows(b, "indexer.k_norm", norm, keys, build_part(b, keys, 0, n));
	build_choose(b, x, q_low, make_group_keys(b, keys, rows_of(scores),
		build_table(b, position_bias, "weight", b->layer->ratio, n), (struct norm){ .kind = NORM_NONE }));
}

void build_index(struct builder *b, struct value *x, struct value *q_low)
{
	struct value *keys;

	if (b->layer->ratio) {
		index_gated_groups(b, x, q_low);
		return;
	}
	keys = build_product(b, x, "indexer.attn_k", WIDE, indexer_of(b->model)->dim);
	build_choose(b, x, q_low, keep_keys(b, keys, 1, key_norm(b)));
}

/* Queries, head by head normed. */
static struct value *norm_queries(struct builder *b, struct value *q)
{
	const struct indexer *i = indexer_of(b->model);
	struct op_rows o = { .norms = i->heads, .norm = build_norm_of(b, "indexer.q_norm", i->dim) };

	o.norm.weight = build_tiled(b, o.norm.weight, i->dim, i->heads);
	return build_rows(b, "indexer.q_norm", o, q, build_part(b, q, 0, q->n));
}

/* Each head chooses for one KV head among blocks of positions, by keys of single positions; otherwise the heads choose
 * together, by the mean of a group's keys. */
void build_index_groups(struct builder *b, struct value *x)
{
	const struct indexer *i = indexer_of(b->model);
	struct value *q = build_value(b, i->heads * i->dim), *keys = build_value(b, i->dim);
	struct op_product o = build_products_of(b, x);
	struct kept_groups kept;
	struct norm norm;

	build_add_product(b, &o, "indexer.q_proj", WIDE, q);
	build_add_product(b, &o, "indexer.k_proj", WIDE, keys);
	build_products(b, "indexer.qk_proj", &o);
	norm = build_norm_of(b, "indexer.k_norm", i->dim);
	if (i->local)
		kept = keep_keys(b, keys, 1, norm);
	else
		kept = make_group_keys(b, keys, build_constant(b, i->dim, 0),
			build_constant(b, b->layer->ratio * i->dim, 0).at, norm);
	choose(b, kept, norm_queries(b, q), build_constant(b, i->heads, 1));
}

size_t build_chosen_size(const struct builder *b)
{
	return b->layer->ratio && !indexer_of(b->model)->split ? b->layer->ratio : 1;
}

void build_attend_groups(struct builder *b, const struct op_attention *a, struct kept_groups compressed,
	struct value *out)
{
	struct op_attend_groups o = { .attention = *a, .ratio = b->layer->ratio, .kept = compressed.in,
		.offset = compressed.offset, .top = b->layer->sparse ? indexer_of(b->model)->top : 0,
		.by_head = indexer_of(b->model)->local > 0, .alone = compressed_of(b->model)->rank_q > 0 };
	int number;
	struct op *op;

	if (o.top && !b->chosen && !build_failed(b))
		b->graph.failed = why(b->w, "layer %zu: no indexer has chosen positions for it", b->il);
	if (o.top)
		o.chosen = rows_of(b->chosen);
	if (!o.alone)
		o.ratio = build_chosen_size(b);
	number = build_append(b, &op_attend_groups, NULL, &o, sizeof o);
	if ((op = build_op(b, number)))
		op->scratch = attend_groups_scratch(&o, b->plan->setup.kernels, b->model->n_ctx_max);
	build_output(b, number, 0, "", out, out->n);
}
