/* Multi-head latent attention (DeepSeek-AI 2024). A row of the hidden state is projected to a short latent row l and a
 * rotated part of the key, which all heads share. Head h's key is [K_h · l | shared part], its value V_h · l.
 *
 * Absorbed: the cache holds only [l | shared part]. Since q · (K_h · l) = (K_hᵀ · q) · l, queries are multiplied by
 * K_hᵀ, and attention's result, which is in terms of l, by V_h. Older files have K_h and V_h in one matrix, not
 * transposed; for them, the cache holds the keys and values of each head. */
#include "build.h"

/* Computes the queries of all heads into q. */
static void queries(struct builder *b, struct packed *x, struct buffer q)
{
	const struct latent *l = &b->layer->latent;
	struct buffer low = b->plan->latent.q_low;
	struct op_rows norm = { .n = l->rank_q, .in = low, .out = low };
	size_t rows = b->layer->n_head * (l->dim_nope + l->dim_rope);

	if (!l->rank_q) {
		build_product(b, x, "attn_q", WIDE, rows, q);
		return;
	}
	build_product(b, x, "attn_q_a", WIDE, l->rank_q, low);
	if (l->gates_low)
		build_gates(b, build_pack(b, "attn_q_a_pack", low, l->rank_q, SLOT_BRANCH));
	norm.norm = build_norm_of(b, "attn_q_a_norm", l->rank_q);
	build_packing(b, "attn_q_a_norm", &norm, SLOT_BRANCH);
	if (b->layer->sparse == CHOOSES)
		build_index(b, x, norm.packed);
	build_product(b, norm.packed, "attn_q_b", WIDE, rows, q);
}

/* Absorbed: queries are multiplied by K_hᵀ, and the latent row is the key. */
static void absorbed(struct builder *b, struct packed *x)
{
	const struct latent *l = &b->layer->latent;
	size_t heads = b->layer->n_head, dim_k = b->layer->dim_k, dim_q = l->dim_nope + l->dim_rope;
	struct buffer qkv = build_qkv_buffer(b), key = buffer_at(qkv, heads * dim_k), q = b->plan->latent.q;
	struct op_copy rotated = { .copies = 1, .copy = { { .from = buffer_at(q, l->dim_nope),
		.to = buffer_at(qkv, l->rank), .heads = heads, .n = l->dim_rope,
		.from_step = dim_q, .to_step = dim_k } } };

	build_product(b, x, "attn_kv_a_mqa", WIDE, dim_k, key);
	queries(b, x, q);
	build_norm_rows(b, "attn_kv_a_norm", key, l->rank);
	if (l->shared_normed)
		build_norm_rows(b, "attn_k_norm", buffer_at(key, l->rank), l->dim_rope);
	build_append(b, &op_copy, NULL, &rotated, sizeof rotated);
	build_by_head(b, "attn_k_b", (struct op_head_rows){ .in = q, .heads = heads, .n = l->dim_nope, .step = dim_q },
		l->rank, qkv, dim_k);
}

/* Not absorbed: computes keys and values of each head. */
static void expanded(struct builder *b, struct packed *x)
{
	const struct latent *l = &b->layer->latent;
	size_t heads = b->layer->n_head, dim_k = b->layer->dim_k, both = l->dim_nope + l->dim_v;
	struct buffer qkv = build_qkv_buffer(b), keys = buffer_at(qkv, heads * dim_k), low = b->plan->latent.low;
	struct buffer values = buffer_at(keys, heads * dim_k), kv = b->plan->latent.kv;
	struct op_rows norm = { .n = l->rank, .in = low, .out = low };
	struct op_copy copy = { .copies = 3, .copy = {
		{ .from = kv, .to = keys, .heads = heads, .n = l->dim_nope, .from_step = both, .to_step = dim_k },
		{ .from = buffer_at(low, l->rank), .to = buffer_at(keys, l->dim_nope), .heads = heads, .n = l->dim_rope,
		  .to_step = dim_k },
		{ .from = buffer_at(kv, l->dim_nope), .to = values, .heads = heads, .n = l->dim_v, .from_step = both,
		  .to_step = l->dim_v },
	} };

	build_product(b, x, "attn_kv_a_mqa", WIDE, l->rank + l->dim_rope, low);
	queries(b, x, qkv);
	norm.norm = build_norm_of(b, "attn_kv_a_norm", l->rank);
	build_packing(b, "attn_kv_a_norm", &norm, SLOT_BRANCH);
	build_product(b, norm.packed, "attn_kv_b", WIDE, heads * both, kv);
	build_append(b, &op_copy, NULL, &copy, sizeof copy);
}

struct packed *build_latent_attention(struct builder *b, struct packed *x)
{
	const struct latent *l = &b->layer->latent;
	size_t heads = b->layer->n_head;
	struct buffer out, values = buffer_with(b->plan->latent.kv, heads * l->dim_v);

	if (!l->gates_low)
		build_gates(b, x);
	(l->absorbed ? absorbed : expanded)(b, x);
	out = build_attend(b, HEADS_PLAIN);
	if (!l->absorbed)
		return build_attended(b, out);
	build_by_head(b, "attn_v_b", (struct op_head_rows){ .in = out, .heads = heads, .n = l->rank, .step = l->rank },
		l->dim_v, values, l->dim_v);
	return build_attended(b, values);
}
