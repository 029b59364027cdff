/* Compressed attention (DeepSeek-AI 2026). Keys are values, one head of them for all queries. A layer sees a window of
 * rows and, where it has a ratio, compressed rows of all groups of positions before. The heads' results go in groups
 * through a matrix each, and together through another. */
#include "build.h"

#include <math.h>
#include <stdio.h>

#include "lib/base/size.h"
#include "fwd/model/layers.h"

/* Room for n floats in what is kept of each group of `ratio` positions; where it begins. */
static struct grouped *grouped(struct builder *b, size_t ratio, size_t n, size_t *offset)
{
	struct grouped *g = b->plan->grouped;

	while (g->ratio && g->ratio != ratio)
		g++;
	g->ratio = ratio;
	*offset = build_share(b, &g->floats, n);
	return g;
}

void build_lay_out_groups(struct builder *b)
{
	struct plan *p = b->plan;

	for (struct grouped *g = p->grouped; g < p->grouped + GROUPINGS && g->ratio; g++) {
		size_t n = KV_EXTENT / g->ratio;

		g->floats = op_pieces(g->floats, 16) * 16;
		shape_add_heads(p->heads[0], (struct segment_heads){ (uint32_t)n, 0, (uint32_t)g->floats });
		for (int type = 0; type < KV_TYPES; type++) {
			g->at[type] = p->extent_bytes[type];
			p->extent_bytes[type] += n * g->floats * sizeof(float);
		}
	}
}

/* Rows of n elements compressed by the tensors PREFIX_*, and kept. */
static const struct grouped *compress(struct builder *b, struct packed *x, const char *prefix, size_t n, size_t *offset)
{
	const struct model *m = b->model;
	size_t ratio = b->layer->ratio, width = ratio == INDEXED_RATIO ? 2 * n : n;
	struct op_product product = { .x = x };
	struct op_compress o = { .n = n, .ratio = ratio, .overlaps = ratio == INDEXED_RATIO,
		.rows = buffer_with(b->plan->compressed.rows, 2 * width),
		.out = buffer_with(b->plan->compressed.made, n) };
	struct op_compressed to = { .n = n, .ratio = ratio, .rope_at = n - m->rope.n_rot, .x = o.out,
		.pairs = m->pairs, .rope = build_rope(b, &m->rope, ratio) };
	char name[64];

	snprintf(name, sizeof name, "%s_kv", prefix);
	build_add_product(b, &product, name, WIDE, width, o.rows);
	snprintf(name, sizeof name, "%s_gate", prefix);
	build_add_product(b, &product, name, WIDE, width, buffer_at(o.rows, width));
	build_products(b, prefix, &product);
	snprintf(name, sizeof name, "%s_ape", prefix);
	o.places = build_vector(b, name, "weight", ratio * width);
	o.ring = build_ring(b, 2 * width * sizeof(float));
	o.state = build_state(b, 3 * n);
	build_append(b, &op_compress, NULL, &o, sizeof o);
	snprintf(name, sizeof name, "%s_norm", prefix);
	to.norm = build_norm_of(b, name, n);
	to.kept = grouped(b, ratio, n, &to.offset);
	build_append(b, &op_compressed, NULL, &to, sizeof to);
	*offset = to.offset;
	return to.kept;
}

/* The indexer: keys from x, compressed, too; queries from those that attention's are made of. */
static void choose(struct builder *b, struct packed *x, struct packed *q_low)
{
	const struct compressed *c = &b->model->compressed;
	const struct compressed_buffers *to = &b->plan->compressed;
	struct op_choose o = { .heads = c->index_heads, .n = c->index_dim, .top = c->top, .ratio = b->layer->ratio,
		.rope_at = c->index_dim - b->model->rope.n_rot,
		.scale = 1 / sqrtf((float)(c->index_heads * c->index_dim)), .q = to->index_q, .weight = to->index_w,
		.pairs = b->model->pairs, .rope = build_rope(b, &b->model->rope, 1), .chosen = to->chosen };
	struct op *op;

	build_product(b, q_low, "indexer.attn_q_b", WIDE, o.heads * o.n, o.q);
	build_product(b, x, "indexer.proj", WIDE, o.heads, o.weight);
	o.kept = compress(b, x, "indexer_compressor", o.n, &o.offset);
	if ((op = build_append(b, &op_index, NULL, &o, sizeof o))) {
		op->scratch = choose_scratch(&o, 0);
		op->block_bytes = choose_index_bytes();
	}
	if ((op = build_append(b, &op_choose, NULL, &o, sizeof o)))
		op->scratch = choose_scratch(&o, b->model->n_ctx_max);
}

void build_attend_groups(struct builder *b, const struct op_attention *a)
{
	struct op_attend_groups o = { .attention = *a, .ratio = b->layer->ratio, .kept = b->compressed.kept,
		.offset = b->compressed.offset, .chosen = b->plan->compressed.chosen,
		.top = b->layer->ratio == INDEXED_RATIO ? b->model->compressed.top : 0 };
	struct op *op = build_append(b, &op_attend_groups, NULL, &o, sizeof o);

	if (op)
		op->scratch = attend_groups_scratch(&o, b->plan->setup.kernels, b->model->n_ctx_max);
	build_leaves(op, 0, "", o.attention.out, a->heads.n_head * a->heads.dim_v);
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
	if (l->ratio == INDEXED_RATIO)
		choose(b, x, norm.packed);
	out = build_attend(b, HEADS_COMPRESSED);
	build_by_head(b, "attn_output_a", (struct op_head_rows){ .in = out, .heads = c->groups, .n = group,
		.step = group }, c->rank_out, low, c->rank_out);
	return build_attended(b, low);
}
