/* Compressed attention (DeepSeek-AI 2026). Keys are also the values, and all heads share one KV head. A layer attends
 * to a window of positions and, if it has a ratio, to a compressed row for each complete group of positions. The output
 * product has two steps: one matrix for each group of heads, then one for all. */
#include "build.h"

#include <stdio.h>

/* Compresses x to rows of n elements by the tensors PREFIX_*. The segment keeps them at *offset of the group
 * (build_grouped()). */
static const struct grouped *compress(struct builder *b, struct packed *x, const char *prefix, size_t n, size_t *offset)
{
	const struct model *m = b->model;
	size_t ratio = b->layer->ratio, width = ratio == INDEXED_RATIO ? 2 * n : n;
	struct op_product product = { .x = x };
	struct op_compress o = { .n = n, .ratio = ratio, .overlaps = ratio == INDEXED_RATIO,
		.rows = buffer_with(b->plan->compressed.rows, 2 * width),
		.out = buffer_with(b->plan->compressed.made, n) };
	struct op_keep_group to = { .n = n, .ratio = ratio, .rope_at = n - m->rope.n_rot, .x = o.out,
		.pairs = m->pairs, .rope = build_rope(b, &m->rope, ratio) };
	char name[64];

	snprintf(name, sizeof name, "%s_kv", prefix);
	build_add_product(b, &product, name, WIDE, width, o.rows);
	snprintf(name, sizeof name, "%s_gate", prefix);
	build_add_product(b, &product, name, WIDE, width, buffer_at(o.rows, width));
	build_products(b, prefix, &product);
	snprintf(name, sizeof name, "%s_ape", prefix);
	o.position_bias = build_table(b, name, "weight", ratio, width);
	o.ring = build_ring(b, 2 * width * sizeof(float));
	o.state = build_state(b, 3 * n);
	build_append(b, &op_compress, NULL, &o, sizeof o);
	snprintf(name, sizeof name, "%s_norm", prefix);
	to.norm = build_norm_of(b, name, n);
	to.kept = build_grouped(b, ratio, n, &to.offset);
	build_append(b, &op_keep_group, NULL, &to, sizeof to);
	*offset = to.offset;
	return to.kept;
}

struct packed *build_compressed_attention(struct builder *b, struct packed *x)
{
	const struct compressed *c = &b->model->compressed;
	const struct layer *l = b->layer;
	size_t group = l->n_head / c->groups * l->dim_v;
	struct buffer q = build_qkv_buffer(b), out, low = b->plan->compressed.low;
	struct op_product first = { .x = x };
	struct op_rows norm = { .n = c->rank_q, .in = b->plan->compressed.q_low, .out = b->plan->compressed.q_low };

	build_add_product(b, &first, "attn_q_a", WIDE, c->rank_q, norm.in);
	build_add_product(b, &first, "attn_kv", WIDE, l->dim_k, buffer_at(q, l->n_head * l->dim_k));
	build_products(b, "attn_kv", &first);
	norm.norm = build_norm_of(b, "attn_q_a_norm", c->rank_q);
	build_packing(b, "attn_q_a_norm", &norm, SLOT_BRANCH);
	build_product(b, norm.packed, "attn_q_b", WIDE, l->n_head * l->dim_k, q);
	if (l->ratio)
		b->compressed.kept = compress(b, x, "attn_compressor", l->dim_k, &b->compressed.offset);
	if (l->ratio == INDEXED_RATIO) {
		const struct grouped *keys;
		size_t offset;

		keys = compress(b, x, "indexer_compressor", b->model->indexer.dim, &offset);
		build_choose(b, x, norm.packed, keys, offset);
	}
	out = build_attend(b, HEADS_COMPRESSED);
	build_unfold(b, "attn_output_a", c->groups, c->rank_out, group);
	build_by_head(b, "attn_output_a", (struct op_head_rows){ .in = out, .heads = c->groups, .n = group,
		.step = group }, c->rank_out, low, c->rank_out);
	return build_attended(b, low);
}
