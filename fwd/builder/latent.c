/* Multi-head latent attention (DeepSeek-AI 2024). A row of the hidden state is projected to a short latent row l and a
 * rotated part of the key, which all heads share. Head h's key is [K_h · l | shared part], its value V_h · l.
 *
 * Absorbed: the cache holds only [l | shared part]. Since q · (K_h · l) = (K_hᵀ · q) · l, queries are multiplied by
 * K_hᵀ, and attention's result, which is in terms of l, by V_h. Older files have K_h and V_h in one matrix, not
 * transposed; for them, the cache holds the keys and values of each head. */
#include "latent.h"

#include <math.h>
#include <stdio.h>

#include "build.h"
#include "fwd/model/layers.h"

/* ---- hyperparameters ---- */

struct latent *latent_of(struct model *m, int sliding)
{
	static const char owner;

	return (struct latent *)model_own(m, &owner, 2 * sizeof(struct latent)) + sliding;
}

/* Checks the head sizes of one layer and sets up its latent attention; dim_k is the length of a key of one head,
 * rotated part included. */
static int set_latent(struct model *m, struct layer *layer, struct latent *l, size_t dim_k, struct why *w)
{
	if (dim_k <= l->dim_rope)
		return why(w, "%s: %zu, but keys have only %zu elements", key_name(m, "rope.dimension_count").s,
			l->dim_rope, dim_k);
	if (layer->n_head_kv != (l->absorbed ? 1 : layer->n_head))
		return why(w, "%s: %zu, not %zu", key_name(m, "attention.head_count_kv").s, layer->n_head_kv,
			l->absorbed ? 1 : layer->n_head);
	if (!l->absorbed && (layer->dim_k != dim_k || layer->dim_v != l->dim_v))
		return why(w, "%s: the heads of layers differ in size", key_name(m, "attention.key_length").s);
	l->dim_nope = dim_k - l->dim_rope;
	layer->latent = l;
	layer->dim_out = l->dim_v;
	layer->rope_at = l->absorbed ? l->rank : l->dim_nope;
	layer->scale = 1 / sqrtf((float)dim_k);
	layer->v_in_k = l->absorbed;
	if (l->absorbed) {
		layer->dim_k = l->rank + l->dim_rope;
		layer->dim_v = l->rank;
	}
	return 0;
}

int latent_read(struct model *m, struct why *w)
{
	struct latent *l = latent_of(m, 0);
	size_t first = 0, dim_k;
	char keys[64];

	l->dim_rope = m->rope.n_rot;
	while (!m->layer[first].attends)
		if (++first == m->n_layer)
			return why(w, "%s: no layer has any", key_name(m, "attention.head_count_kv").s);
	snprintf(keys, sizeof keys, "blk.%zu.attn_k_b.weight", first);
	dim_k = m->layer[first].dim_k;
	l->absorbed = model_has(m, keys);
	l->dim_v = m->layer[first].dim_v;
	if (key_size(m, "attention.q_lora_rank", 0, RANK_MAX, &l->rank_q, w) < 0
	    || key_required(m, "attention.kv_lora_rank", 1, RANK_MAX, &l->rank, w) < 0
	    || (l->absorbed && (key_required(m, "attention.key_length_mla", 1, RANK_MAX, &dim_k, w) < 0
	    || key_required(m, "attention.value_length_mla", 1, RANK_MAX, &l->dim_v, w) < 0)))
		return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].attends && set_latent(m, &m->layer[il], l, dim_k, w) < 0)
			return -1;
	return 0;
}

int latent_read_some(struct model *m, int sliding, struct latent l, struct why *w)
{
	struct latent *to = latent_of(m, sliding);
	const char *suffix = sliding ? "_swa" : "";
	char rank[64], keys[64], values[64];
	size_t dim_k;

	snprintf(rank, sizeof rank, "attention.kv_lora_rank%s", suffix);
	snprintf(keys, sizeof keys, "attention.key_length_mla%s", suffix);
	snprintf(values, sizeof values, "attention.value_length_mla%s", suffix);
	if (key_required(m, rank, 1, RANK_MAX, &l.rank, w) < 0 || key_required(m, keys, 1, RANK_MAX, &dim_k, w) < 0
	    || key_required(m, values, 1, RANK_MAX, &l.dim_v, w) < 0)
		return -1;
	*to = l;
	for (size_t il = 0; il < m->n_layer; il++)
		if ((m->layer[il].window > 0) == sliding && set_latent(m, &m->layer[il], to, dim_k, w) < 0)
			return -1;
	return 0;
}

/* ---- building ---- */

/* Computes the queries of all heads into q. */
static void queries(struct builder *b, struct value *x, struct value *q, struct value **gates)
{
	const struct latent *l = b->layer->latent;
	struct value *low;

	if (!l->rank_q) {
		build_product_into(b, x, "attn_q", WIDE, q);
		return;
	}
	low = build_product(b, x, "attn_q_a", WIDE, l->rank_q);
	if (l->gates_low)
		*gates = build_gates(b, low);
	low = build_norm_rows(b, "attn_q_a_norm", low);
	if (b->layer->sparse == CHOOSES)
		build_index(b, x, low);
	build_product_into(b, low, "attn_q_b", WIDE, q);
}

/* Absorbed: queries are multiplied by K_hᵀ, and the latent row is the key. */
static void absorbed(struct builder *b, struct value *x, struct qkv *a)
{
	const struct latent *l = b->layer->latent;
	size_t heads = b->layer->n_head, dim_k = b->layer->dim_k, dim_q = l->dim_nope + l->dim_rope;
	struct value *q = build_value(b, heads * dim_q);
	struct op_copy rotated = { .copies = 1, .copy = { { .heads = heads, .n = l->dim_rope, .from_step = dim_q,
		.to_step = dim_k } } };

	*a = build_qkv_room(b, heads * dim_k, dim_k, 0);
	build_product_into(b, x, "attn_kv_a_mqa", WIDE, a->k);
	queries(b, x, q, &a->gates);
	build_norm_rows(b, "attn_kv_a_norm", build_part(b, a->k, 0, l->rank));
	if (l->shared_normed)
		build_norm_rows(b, "attn_k_norm", build_part(b, a->k, l->rank, l->dim_rope));
	rotated.copy[0].from = rows_of(build_part(b, q, l->dim_nope, q->n - l->dim_nope));
	rotated.copy[0].to = rows_of(build_part(b, a->q, l->rank, a->q->n - l->rank));
	build_append(b, &op_copy, NULL, &rotated, sizeof rotated);
	build_by_head(b, "attn_k_b", (struct by_head){ .x = q, .heads = heads, .n = l->dim_nope, .step = dim_q,
		.y = a->q, .rows = l->rank, .to_step = dim_k });
	a->q = build_columns(b, a->q, 0, a->q->n);
	a->k = build_columns(b, a->k, 0, a->k->n);
}

/* Not absorbed: computes keys and values of each head. */
static void expanded(struct builder *b, struct value *x, struct qkv *a)
{
	const struct latent *l = b->layer->latent;
	size_t heads = b->layer->n_head, dim_k = b->layer->dim_k, both = l->dim_nope + l->dim_v;
	struct value *low, *latent, *kv;
	struct op_copy copy = { .copies = 3, .copy = {
		{ .heads = heads, .n = l->dim_nope, .from_step = both, .to_step = dim_k },
		{ .heads = heads, .n = l->dim_rope, .to_step = dim_k },
		{ .heads = heads, .n = l->dim_v, .from_step = both, .to_step = l->dim_v },
	} };

	*a = build_qkv_room(b, heads * dim_k, heads * dim_k, heads * l->dim_v);
	low = build_product(b, x, "attn_kv_a_mqa", WIDE, l->rank + l->dim_rope);
	queries(b, x, a->q, &a->gates);
	latent = build_norm_rows(b, "attn_kv_a_norm", build_part(b, low, 0, l->rank));
	kv = build_product(b, latent, "attn_kv_b", WIDE, heads * both);
	copy.copy[0].from = rows_of(kv);
	copy.copy[0].to = rows_of(a->k);
	copy.copy[1].from = rows_of(build_part(b, low, l->rank, l->dim_rope));
	copy.copy[1].to = rows_of(build_part(b, a->k, l->dim_nope, a->k->n - l->dim_nope));
	copy.copy[2].from = rows_of(build_part(b, kv, l->dim_nope, kv->n - l->dim_nope));
	copy.copy[2].to = rows_of(a->v);
	build_append(b, &op_copy, NULL, &copy, sizeof copy);
	a->k = build_columns(b, a->k, 0, a->k->n);
}

struct value *build_latent_attention(struct builder *b, struct value *x)
{
	const struct latent *l = b->layer->latent;
	size_t heads = b->layer->n_head;
	struct value *gates = l->gates_low ? NULL : build_gates(b, x), *values;
	struct qkv a;

	(l->absorbed ? absorbed : expanded)(b, x, &a);
	gates = l->gates_low ? a.gates : gates;
	x = build_attend(b, a, HEADS_PLAIN, (struct kept_groups){ NULL, 0 });
	if (!l->absorbed)
		return build_attended(b, x, gates);
	values = build_value(b, heads * l->dim_v);
	build_by_head(b, "attn_v_b", (struct by_head){ .x = x, .heads = heads, .n = l->rank, .step = l->rank,
		.y = values, .rows = l->dim_v, .to_step = l->dim_v });
	return build_attended(b, values, gates);
}
