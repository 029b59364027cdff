/* An encoder, and what a decoder's layers have for it: attention that begins at the end of the encoder's text, and
 * cross-attention (Raffel et al. 2020). */
#include "build.h"

#include "fwd/model/encoder.h"
#include "lib/base/fmath.h"

/* The bucket of a key at this distance from the query: each of the first distances has its own, longer ones share
 * buckets whose size grows geometrically up to ATTEND_NEAR. A text's buckets are divided between the two directions.
 * Logarithms are rounded to floats, because some bucket limits are integers only then. */
static size_t bucket(size_t buckets, int text, long distance)
{
	size_t n = text ? buckets / 2 : buckets, exact = n / 2, after = text && distance > 0 ? n : 0;
	size_t d = (size_t)(distance < 0 ? -distance : text ? distance : 0);
	float logs;

	if (d < exact)
		return after + d;
	logs = (float)fmath_log((double)d / (double)exact) * (float)(n - exact);
	d = exact + (size_t)((double)logs / fmath_log((double)ATTEND_NEAR / (double)exact));
	return after + (d < n ? d : n - 1);
}

void build_biases(struct builder *b)
{
	size_t heads = b->layer->n_head, buckets = encoder_of(b->model)->buckets;
	const float *rows;
	float *to;

	if (b->il && !build_has(b, "attn_rel_b"))
		return;
	rows = build_table(b, "attn_rel_b", "weight", buckets, heads);
	b->biases = to = build_allocate(b, heads * ATTEND_BIASES * sizeof *to);
	for (size_t i = 0; rows && to && i < heads * ATTEND_BIASES; i++) {
		long d = (long)(i % ATTEND_BIASES) - ATTEND_BIASES / 2;

		to[i] = rows[bucket(buckets, b->sight != SIGHT_ANSWER, d) * heads + i / ATTEND_BIASES];
	}
}

struct value *build_cross_attention(struct builder *b, struct value *x)
{
	struct qkv a = { .q = NULL };

	model_ignore(b->model, build_name(b, "cross_attn_rel_b", "weight").s);  /* some files have it; all ignore it */
	a.q = build_product(b, x, "cross_attn_q", WIDE, b->layer->n_head * b->layer->dim_k);
	b->sight = SIGHT_CROSS;
	x = build_attention(b, a, HEADS_PLAIN);
	b->sight = SIGHT_ANSWER;
	return x;
}

/* Computes the current layer's K and V of cross-attention from the encoder's result, and stores them. */
static void store_cross(struct builder *b, struct value *x)
{
	const struct layer *l = b->layer;
	struct qkv kv = build_qkv_room(b, 0, l->n_head_kv * l->dim_k, l->n_head_kv * l->dim_v);
	struct op_product o = build_products_of(b, x);
	struct op_attention a;

	build_add_product(b, &o, "cross_attn_k", WIDE, kv.k);
	build_add_product(b, &o, "cross_attn_v", WIDE, kv.v);
	build_products(b, "cross_attn_kv", &o);
	kv.q = NULL;
	a = build_attention_of(b, kv);
	build_place_kv(b, &a, b->model->n_layer + b->il);
	build_append(b, &op_prepare, NULL, &a, sizeof a);       /* store has the items of prepare */
	build_append(b, &op_store, NULL, &a, sizeof a);
}

void build_encoder(struct builder *b)
{
	struct model *m = b->model;
	struct layer layer = m->layer[0];
	struct value *x;

	b->stack = "enc.";
	b->sight = SIGHT_ENCODER;
	build_embed(b);
	for (b->il = 0; b->il < encoder_of(m)->n_layer; b->il++) {
		b->layer = &layer;
		layer.block = b->il;
		m->family->layer(b, b->il);
	}
	b->il = OP_NO_LAYER;
	x = build_norm(b, b->x, "enc.output_norm");
	b->stack = "dec.";
	b->sight = SIGHT_CROSS;
	for (b->il = 0; b->il < m->n_layer; b->il++) {
		b->layer = &m->layer[b->il];
		store_cross(b, x);
	}
	b->il = OP_NO_LAYER;
	b->sight = SIGHT_ANSWER;
	b->biases = NULL;
}
