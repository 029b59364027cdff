/* Attention: q, k and v, their norms and rotations, the attention ops, and the gates of their result. */
#include "build.h"

#include <string.h>

#include "compressed.h"
#include "indexer.h"
#include "lib/base/hash.h"
#include "lib/base/size.h"

/* A part of v, or NULL if it would be empty. */
static struct value *part_or_none(struct builder *b, struct value *v, size_t column, size_t n)
{
	return n ? build_part(b, v, column, n) : NULL;
}

struct qkv build_qkv_room(struct builder *b, size_t q, size_t k, size_t v)
{
	struct value *all = build_value(b, q + k + v);

	return (struct qkv){ .q = build_part(b, all, 0, q), .k = part_or_none(b, all, q, k),
		.v = part_or_none(b, all, q + k, v) };
}

static size_t n_gates(const struct builder *b)
{
	const struct layer *l = b->layer;

	return l->n_head * (l->gates == GATES_HEADS ? 1 : layer_dim_out(l));
}

struct value *build_gates(struct builder *b, struct value *x)
{
	if (!b->layer->gates || !build_has(b, "attn_gate"))
		return NULL;
	return build_product(b, x, "attn_gate", NARROW, n_gates(b));
}

/* q alone, in a layer that reads the K and V of another. */
static struct qkv queries(struct builder *b, struct value *x)
{
	static const char *const unused[] = { "attn_k", "attn_v", "attn_k_norm", NULL };

	build_ignore(b, unused, "weight");
	return (struct qkv){ .q = build_product(b, x, "attn_q", WIDE, b->layer->n_head * b->layer->dim_k) };
}

/* q, k and v, which are the parts of a wider value. */
static struct qkv divide(struct builder *b, struct qkv a, struct value *all)
{
	a.v = build_part(b, all, a.q->n + a.k->n, a.v->n);
	a.k = build_part(b, all, a.q->n, a.k->n);
	a.q = build_part(b, all, 0, a.q->n);
	return a;
}

/* q, k and v with their elements clamped. */
static struct qkv clamp(struct builder *b, struct qkv a)
{
	struct op_rows o = { .f = ROW_CLAMP, .most = b->model->qkv_clamp };
	struct value *all = build_columns(b, a.q, 0, a.q->n + a.k->n + a.v->n);

	return divide(b, a, build_rows(b, "attn_clamp", o, all, build_part(b, all, 0, all->n)));
}

/* The biases of attn_q, attn_k and attn_v in a row, for an attn_qkv that has none of its own. NULL: the file does not
 * have these either. */
static const float *joined_biases(struct builder *b, size_t q, size_t k, size_t v)
{
	const size_t n[] = { q, k, v };
	const float *of[] = { build_bias(b, "attn_q", 1, q), build_bias(b, "attn_k", 1, k),
		build_bias(b, "attn_v", 1, v) };
	float *joined, *to;

	if (!of[0] && !of[1] && !of[2])
		return NULL;
	to = joined = build_allocate(b, (q + k + v) * sizeof *joined);
	for (size_t i = 0; joined && i < sizeof n / sizeof *n; i++)
		for (size_t j = 0; j < n[i]; j++)
			*to++ = of[i] ? of[i][j] : 0;
	return joined;
}

struct qkv build_qkv(struct builder *b, struct value *x)
{
	const struct layer *l = b->layer;
	size_t q = l->n_head * l->dim_k, k = l->n_head_kv * l->dim_k, v = l->n_head_kv * l->dim_v;
	int beside = l->gates && !build_has(b, "attn_gate");
	int v_is_k = b->model->family->decoder.v_from_k && l->dim_v == l->dim_k && !build_has(b, "attn_qkv")
		&& !build_has(b, "attn_v");
	struct qkv a = build_qkv_room(b, q, k, v);
	struct value *made = beside ? build_value(b, 2 * q) : a.q;
	struct op_product o;

	if (l->kv)
		return queries(b, x);
	o = build_products_of(b, x);
	if (!build_has(b, "attn_qkv")) {
		build_add_product(b, &o, "attn_q", WIDE, made);
		build_add_product(b, &o, "attn_k", WIDE, a.k);
		if (!v_is_k)
			build_add_product(b, &o, "attn_v", WIDE, a.v);
	} else if (beside) {
		build_add_parts(b, &o, "attn_qkv", WIDE, 3, (struct value *[]){ made, a.k, a.v });
	} else {
		build_add_product(b, &o, "attn_qkv", WIDE, build_columns(b, a.q, 0, q + k + v));
		if (!o.bias[0])
			o.bias[0] = joined_biases(b, q, k, v);
	}
	build_products(b, "attn_qkv", &o);
	a = divide(b, a, build_columns(b, a.q, 0, q + k + v));
	build_deltas(b, x, (struct product_result[]){ { "attn_q", &a.q }, { "attn_k", &a.k }, { "attn_v", &a.v } }, 3);
	if (beside) {
		a.gates = build_value(b, q);
		build_deinterleave(b, "attn_gate", made, l->n_head, 2, (struct value *[]){ a.q, a.gates });
	} else
		a.gates = build_gates(b, x);
	if (v_is_k)
		build_copy_into(b, "attn_v", a.k, a.v);
	return b->model->qkv_clamp > 0 ? clamp(b, a) : a;
}

/* Sets the norms of q and k, whichever the file has. */
static void head_norms(struct builder *b, enum head_norms norms, struct op_attention *o, struct qkv *a)
{
	const struct layer *l = b->layer;

	if (l->head_norms_bare) {
		o->late = 1;
		o->q_norm = o->k_norm = (struct norm){ .kind = NORM_RMS, .eps = b->model->eps };
	}
	if (norms == HEADS_COMPRESSED) {
		o->q_norm = (struct norm){ .kind = NORM_RMS, .eps = b->model->eps };
		o->k_norm = build_norm_of(b, "attn_kv_a_norm", l->dim_k);
	}
	if (l->q_gains) {
		o->norm_step = l->dim_k;
		o->q_norm.weight = build_repeated(b, build_vector(b, "attn_q_norm", "weight", l->n_head), l->n_head,
			l->dim_k);
	}
	if (norms == HEADS_PLAIN || !build_has(b, "attn_q_norm"))
		return;
	if (norms == HEADS_NORMED_TOGETHER) {
		a->q = build_norm_rows(b, "attn_q_norm", a->q);
		a->k = build_norm_rows(b, "attn_k_norm", a->k);
		return;
	}
	o->late = norms == HEADS_NORMED_LATE;
	if (!a->k) {
		o->q_norm = build_norm_of(b, "attn_q_norm", l->dim_k);
		return;
	}
	if (gguf_tensor(b->model->gguf, build_name(b, "attn_q_norm", "weight").s)->dim[1] == 1) {
		o->q_norm = build_norm_of(b, "attn_q_norm", l->dim_k);
		o->k_norm = build_norm_of(b, "attn_k_norm", l->dim_k);
		return;
	}
	o->norm_step = l->dim_k;
	o->q_norm = build_norms_of(b, "attn_q_norm", l->n_head, l->dim_k);
	o->k_norm = build_norms_of(b, "attn_k_norm", l->n_head_kv, l->dim_k);
	if (l->head_norms_layer) {
		o->q_norm.kind = o->k_norm.kind = NORM_LAYER;
		o->q_norm.eps = o->k_norm.eps = 1e-5f;
	}
}

const struct rope *build_rope(struct builder *b, const struct rope_spec *spec, size_t every)
{
	struct op_angles o = { .rope = b->plan->ropes };

	while (o.rope && (o.rope->spec != spec || o.rope->every != every))
		o.rope = o.rope->next;
	if (o.rope || !build_present(b) || !(o.rope = build_allocate(b, sizeof *o.rope)))
		return o.rope;
	*o.rope = (struct rope){ .spec = spec, .next = b->plan->ropes, .every = every };
	b->plan->ropes = o.rope;
	build_append(b, &op_angles, NULL, &o, sizeof o);
	return o.rope;
}

void build_place_kv(struct builder *b, struct op_attention *o, size_t place)
{
	struct plan *p = b->plan;
	const struct attend *a = &o->heads;
	const uint64_t sizes[] = { a->n_head_kv, a->dim_k, attend_stored_v(a), (uint64_t)o->recent };
	size_t *bytes = o->recent ? p->recent_bytes : p->extent_bytes;

	if (o->recent)
		b->window = size_max(b->window, layer_window(b->layer));
	if (build_failed(b) || !build_present(b))
		return;
	p->layout = hash_data(sizes, sizeof sizes, p->layout);
	shape_add_heads(p->heads[o->recent != 0], (struct segment_heads){ (uint32_t)a->n_head_kv, (uint32_t)a->dim_k,
		(uint32_t)attend_stored_v(a) });
	if (o->recent)
		p->window = size_max(p->window, layer_window(b->layer));
	for (int type = 0; type < KV_TYPES; type++) {
		o->offset[type] = bytes[type];
		bytes[type] += a->n_head_kv * kv_block_bytes(type, a->dim_k, attend_stored_v(a));
	}
	memcpy(b->kv_offsets[place].at, o->offset, sizeof o->offset);
}

/* Sets the offset in the segment: the layer's own, or that of the K and V that it reads. All layers of the encoder use
 * the same space, one after the other; so do those of a model that makes embeddings, where that is possible. */
static void set_offset(struct builder *b, struct op_attention *o)
{
	size_t n_layer = b->model->n_layer, place = b->il;

	if (o->sight == SIGHT_CROSS)
		place = n_layer + b->il;
	else if (o->sight == SIGHT_ENCODER)
		place = 2 * n_layer;
	else if (b->one_place)
		place = 0;
	else if (b->layer->kv)
		place = (size_t)(b->layer->kv - b->model->layer);
	if (o->k.value && (!(o->sight == SIGHT_ENCODER || b->one_place) || !b->il))
		build_place_kv(b, o, place);
	if (!build_failed(b))
		memcpy(o->offset, b->kv_offsets[place].at, sizeof o->offset);
}

/* The number of first rows that see all positions, because there are no more groups than the indexer chooses: by head,
 * those of the first `top` groups; otherwise those before the end of group `top` + 1, as an incomplete group is always
 * seen. */
static size_t rows_seeing_all(const struct builder *b)
{
	const struct indexer *i = indexer_of(b->model);

	return i->local ? i->top * b->layer->ratio : (i->top + 1) * build_chosen_size(b) - 1;
}

struct op_attention build_attention_of(struct builder *b, struct qkv x)
{
	const struct layer *l = b->layer;
	struct op_attention o = {
		.heads = { .dim_k = l->dim_k, .dim_v = l->dim_v, .n_head = l->n_head, .n_head_kv = l->n_head_kv,
			.scale = l->scale, .window = l->window, .chunk = l->chunk, .v_in_k = l->v_in_k,
			.slope = l->slope, .bias = b->sight == SIGHT_CROSS ? NULL : b->biases,
			.cap = b->model->attn_cap },
		.pairs = b->model->pairs, .rope = l->rope ? build_rope(b, l->rope, 1) : NULL,
		.temperature = l->temperature, .rope_at = l->rope_at, .sight = b->sight,
		.recent = layer_window(l) > 0 && !b->plan->setup.embeds,
	};

	o.q = rows_of(x.q);
	o.k = rows_of(x.k);
	o.v = rows_of(x.v);
	return o;
}

/* Appends the op that norms and rotates q and k. */
static void prepare(struct builder *b, const struct op_attention *o, const struct qkv *a)
{
	size_t cols = a->q->n + (a->k ? a->k->n : 0) + (a->v ? a->v->n : 0);

	build_output(b, build_append(b, &op_prepare, NULL, o, sizeof *o), 0, "", a->q, cols);
}

/* Appends the ops that attend to all positions that a row sees, or may see with sparse attention. */
static void attend(struct builder *b, const struct op_attention *o, struct value *out)
{
	const struct layer *l = b->layer;
	const struct kernels *k = b->plan->setup.kernels;
	size_t group = l->n_head / l->n_head_kv;
	struct op *op = build_op(b, build_append(b, &op_attend, NULL, o, sizeof *o));
	int join;

	if (op) {
		op->scratch = k->attend_scratch(l->dim_k, l->dim_v, group);
		op->block_bytes = l->n_head_kv * size_max(k->attend_partial(l->dim_v, ATTEND_FEW * group),
			ATTEND_FEW * k->attend_partial(l->dim_v, group));
	}
	join = build_append(b, &op_join, "attend", o, sizeof *o);
	if (!o->top)            /* attend_groups has all rows */
		build_output(b, join, 0, "", out, out->n);
}

struct value *build_attend(struct builder *b, struct qkv x, enum head_norms norms, struct kept_groups compressed)
{
	const struct layer *l = b->layer;
	struct value *out = build_value(b, l->n_head * l->dim_v);
	struct op_attention o = build_attention_of(b, x);

	if (l->v_norms_bare && !l->kv)
		o.v_norm = (struct norm){ .kind = NORM_RMS, .eps = b->model->eps };
	if (model_has(b->model, build_name(b, "attn_sinks", build_suffix(b, "attn_sinks")).s))
		o.heads.sink = build_vector(b, "attn_sinks", build_suffix(b, "attn_sinks"), l->n_head);
	head_norms(b, norms, &o, &x);
	o.q = rows_of(x.q);
	o.k = rows_of(x.k);
	o.out = rows_of(out);
	set_offset(b, &o);
	prepare(b, &o, &x);
	if (o.k.value)
		build_append(b, &op_store, NULL, &o, sizeof o);
	if (!compressed_of(b->model)->rank_q) {
		o.top = l->sparse ? rows_seeing_all(b) : 0;
		attend(b, &o, out);
	}
	if (compressed_of(b->model)->rank_q || l->sparse)
		build_attend_groups(b, &o, compressed, out);
	return out;
}

struct value *build_attended(struct builder *b, struct value *out, struct value *gates)
{
	struct op_rows o = { .unary = b->model->family->decoder.softplus_gates ? UNARY_SOFTPLUS : UNARY_SIGMOID };
	struct value *to = build_part(b, out, 0, out->n);

	if (gates) {
		o.up = rows_of(out);
		o.f = b->layer->gates == GATES_HEADS ? ROW_GATES : ROW_GLU;
		o.gates = b->layer->n_head;
	}
	if (b->model->family->decoder.sub_norms)
		o.norm = build_norm_of(b, "attn_sub_norm", out->n);
	if (!gates && !o.norm.kind)
		to = out;
	return build_rows(b, "attn_pack", o, gates ? gates : out, to);
}

struct value *build_attention(struct builder *b, struct qkv x, enum head_norms norms)
{
	return build_attended(b, build_attend(b, x, norms, (struct kept_groups){ NULL, 0 }), x.gates);
}
