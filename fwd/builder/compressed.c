/* Compressed attention (DeepSeek-AI 2026). Keys are also the values, and all heads share one KV head. A layer attends
 * to a window of positions and, if it has a ratio, to a compressed row for each complete group of positions. The output
 * product has two steps: one matrix for each group of heads, then one for all. */
#include "compressed.h"

#include <stdio.h>

#include "build.h"
#include "indexer.h"

struct compressed *compressed_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct compressed));
}

/* Compresses x to rows of n elements by the tensors PREFIX_*, and keeps these. */
static struct kept_groups compress(struct builder *b, struct value *x, const char *prefix, size_t n)
{
	const struct model *m = b->model;
	size_t ratio = b->layer->ratio, width = ratio == INDEXED_RATIO ? 2 * n : n;
	struct value *values = build_value(b, width), *scores = build_value(b, width), *made = build_value(b, n);
	struct op_product product = build_products_of(b, x);
	struct op_compress o = { .n = n, .ratio = ratio, .overlaps = ratio == INDEXED_RATIO,
		.values = rows_of(values), .scores = rows_of(scores), .out = rows_of(made) };
	struct op_keep_group to = { .n = n, .ratio = ratio, .rope_at = n - m->rope.n_rot, .x = o.out,
		.pairs = m->pairs, .rope = build_rope(b, &m->rope, ratio) };
	struct kept_groups kept;
	char name[64];

	snprintf(name, sizeof name, "%s_kv", prefix);
	build_add_product(b, &product, name, WIDE, values);
	snprintf(name, sizeof name, "%s_gate", prefix);
	build_add_product(b, &product, name, WIDE, scores);
	build_products(b, prefix, &product);
	snprintf(name, sizeof name, "%s_ape", prefix);
	o.position_bias = build_table(b, name, "weight", ratio, width);
	o.ring = build_ring(b, 2 * width * sizeof(float));
	o.state = build_state(b, 3 * n, 0);
	build_append(b, &op_compress, NULL, &o, sizeof o);
	snprintf(name, sizeof name, "%s_norm", prefix);
	to.norm = build_norm_of(b, name, n);
	kept = build_grouped(b, ratio, n);
	to.kept = kept.in;
	to.offset = kept.offset;
	build_append(b, &op_keep_group, NULL, &to, sizeof to);
	return kept;
}

struct value *build_compressed_attention(struct builder *b, struct value *x)
{
	const struct compressed *c = compressed_of(b->model);
	const struct layer *l = b->layer;
	size_t group = l->n_head / c->groups * l->dim_v;
	struct qkv a = build_qkv_room(b, l->n_head * l->dim_k, l->dim_k, 0);
	struct value *q_low = build_value(b, c->rank_q), *low = build_value(b, c->groups * c->rank_out);
	struct op_product first = build_products_of(b, x);
	struct kept_groups rows = { NULL, 0 };

	build_add_product(b, &first, "attn_q_a", WIDE, q_low);
	build_add_product(b, &first, "attn_kv", WIDE, a.k);
	build_products(b, "attn_kv", &first);
	q_low = build_norm_rows(b, "attn_q_a_norm", q_low);
	build_product_into(b, q_low, "attn_q_b", WIDE, a.q);
	if (l->ratio)
		rows = compress(b, x, "attn_compressor", l->dim_k);
	if (l->ratio == INDEXED_RATIO)
		build_choose(b, x, q_low, compress(b, x, "indexer_compressor", indexer_of(b->model)->dim));
	x = build_attend(b, a, HEADS_COMPRESSED, rows);
	build_unfold(b, "attn_output_a", c->groups, c->rank_out, group);
	build_by_head(b, "attn_output_a", (struct by_head){ .x = x, .heads = c->groups, .n = group, .step = group,
		.y = low, .rows = c->rank_out, .to_step = c->rank_out });
	return build_attended(b, low, NULL);
}
