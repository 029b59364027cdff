/* Attention: q, k and v, their norms and rotations, the attention ops, and the choice of rows after the last
 * attention. */
#include "build.h"

#include <string.h>

#include "lib/base/size.h"
#include "fwd/model/mixers.h"

struct buffer build_qkv_buffer(const struct builder *b)
{
	return buffer_with(b->plan->wide, mixers_qkv(b->layer));
}

/* Where the gates of the heads' results are: after q, k and v. */
static struct buffer gates(const struct builder *b)
{
	return buffer_at(build_qkv_buffer(b), layer_qkv(b->layer));
}

static size_t n_gates(const struct builder *b)
{
	const struct layer *l = b->layer;

	return l->gates == GATES_HEADS ? l->n_head
		: l->n_head * (l->latent.rank ? l->latent.dim_v : l->dim_v);
}

void build_gates(struct builder *b, struct packed *x)
{
	if (b->layer->gates && build_has(b, "attn_gate"))
		build_product(b, x, "attn_gate", NARROW, n_gates(b), gates(b));
}

void build_qkv(struct builder *b, struct packed *x)
{
	const struct layer *l = b->layer;
	size_t q = l->n_head * l->dim_k, k = l->n_head_kv * l->dim_k, v = l->n_head_kv * l->dim_v;
	struct op_product o = { .x = x };
	struct op_rows clamp = { .n = q + k + v, .in = build_qkv_buffer(b), .out = build_qkv_buffer(b), .f = ROW_CLAMP,
		.most = b->model->qkv_clamp };
	int beside = l->gates && !build_has(b, "attn_gate");
	const struct product_part parts[] = {
		{ beside ? 2 * q : q, beside ? buffer_at(gates(b), q) : build_qkv_buffer(b) },
		{ k, buffer_at(build_qkv_buffer(b), q) }, { v, buffer_at(build_qkv_buffer(b), q + k) },
	};
	int v_is_k = b->model->family->decoder.v_from_k && l->dim_v == l->dim_k && !build_has(b, "attn_qkv")
		&& !build_has(b, "attn_v");

	if (!build_has(b, "attn_qkv")) {
		build_add_product(b, &o, "attn_q", WIDE, parts[0].rows, parts[0].y);
		build_add_product(b, &o, "attn_k", WIDE, k, parts[1].y);
		if (!v_is_k)
			build_add_product(b, &o, "attn_v", WIDE, v, parts[2].y);
	} else if (beside) {
		build_add_parts(b, &o, "attn_qkv", WIDE, 3, parts);
	} else {
		build_add_product(b, &o, "attn_qkv", WIDE, q + k + v, build_qkv_buffer(b));
	}
	build_products(b, "attn_qkv", &o);
	build_deltas(b, x, (struct product_rows[]){ { "attn_q", q }, { "attn_k", k }, { "attn_v", v } }, 3,
		build_qkv_buffer(b));
	if (beside)
		build_deinterleave(b, "attn_gate", buffer_at(gates(b), q), l->n_head, 2, (struct interleaved[]){
			{ l->dim_k, build_qkv_buffer(b) }, { l->dim_k, gates(b) } });
	build_gates(b, x);
	if (v_is_k)
		build_copy(b, "attn_v", buffer_at(build_qkv_buffer(b), q), buffer_at(build_qkv_buffer(b), q + k), v);
	if (clamp.most > 0)
		build_append(b, &op_rows, "attn_clamp", &clamp, sizeof clamp);
}

void build_q(struct builder *b, struct packed *x)
{
	static const char *const unused[] = { "attn_k", "attn_v", "attn_k_norm", NULL };

	build_product(b, x, "attn_q", WIDE, b->layer->n_head * b->layer->dim_k, build_qkv_buffer(b));
	build_ignore(b, unused, "weight");
}

/* Sets the norms of q and k, whichever the file has. */
static void head_norms(struct builder *b, enum head_norms norms, struct op_attention *o)
{
	const struct layer *l = b->layer;
	size_t q = l->n_head * l->dim_k, k = l->n_head_kv * l->dim_k;

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
		build_norm_rows(b, "attn_q_norm", build_qkv_buffer(b), q);
		build_norm_rows(b, "attn_k_norm", buffer_at(build_qkv_buffer(b), q), k);
		return;
	}
	o->late = norms == HEADS_NORMED_LATE;
	if (o->shares) {
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
	if (o.rope || !(o.rope = build_allocate(b, sizeof *o.rope)))
		return o.rope;
	*o.rope = (struct rope){ .spec = spec, .next = b->plan->ropes, .every = every };
	b->plan->ropes = o.rope;
	build_append(b, &op_angles, NULL, &o, sizeof o);
	return o.rope;
}

/* n 0: the model has no such buffer. */
static void also_select(struct op_select *o, struct buffer x, size_t n)
{
	if (!n)
		return;
	o->x[o->buffers] = x;
	o->n[o->buffers++] = n;
}

/* If b->wanted is set: moves the wanted rows of x, of all other buffers that later ops read, and of the n elements of
 * `made` to the front. */
static void select_wanted(struct builder *b, struct buffer made, size_t n)
{
	const struct buffer rows[] = { b->plan->x, b->plan->predicted, b->plan->modes, b->plan->carried,
		b->plan->per_layer };
	struct op_select o = { .buffers = 0 };

	if (!b->wanted)
		return;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		also_select(&o, rows[i], rows[i].stride);
	also_select(&o, made, n);
	also_select(&o, b->plan->branch, b->pending ? b->model->n_embd : 0);
	also_select(&o, b->plan->mixture.logits,
		b->model->family->decoder.routes_input && b->layer->experts ? b->model->experts.n : 0);
	build_append(b, &op_select, NULL, &o, sizeof o);
}

void build_mixed(struct builder *b, struct buffer made, size_t n)
{
	if (b->il + 1 < b->model->n_layer || b->layer->mixers & MIXER_ATTENTION)
		return;
	b->wanted = 1;
	select_wanted(b, made, n);
}

void build_unmixed(struct builder *b)
{
	build_mixed(b, b->plan->x, 0);
}

void build_place_kv(struct builder *b, struct op_attention *o, size_t place)
{
	struct plan *p = b->plan;
	const struct attend *a = &o->heads;
	const uint64_t sizes[] = { a->n_head_kv, a->dim_k, attend_stored_v(a), (uint64_t)o->recent };
	size_t *bytes = o->recent ? p->recent_bytes : p->extent_bytes;

	if (b->failed)
		return;
	p->layout = gguf_hash(sizes, sizeof sizes, p->layout);
	shape_add_heads(p->heads[o->recent != 0], (struct segment_heads){ (uint32_t)a->n_head_kv, (uint32_t)a->dim_k,
		(uint32_t)attend_stored_v(a) });
	p->window = size_max(p->window, layer_window(b->layer));
	for (int type = 0; type < KV_TYPES; type++) {
		o->offset[type] = bytes[type];
		bytes[type] += a->n_head_kv * kv_block_bytes(type, a->dim_k, attend_stored_v(a));
	}
	memcpy(b->kv_offsets[place].at, o->offset, sizeof o->offset);
}

/* Sets the offset in the segment: the layer's own, or that of the K and V that it reads. All layers of the encoder use
 * the same space, one after the other. */
static void set_offset(struct builder *b, struct op_attention *o)
{
	size_t n_layer = b->model->n_layer, place = b->il;

	if (o->sight == SIGHT_CROSS)
		place = n_layer + b->il;
	else if (o->sight == SIGHT_ENCODER)
		place = 2 * n_layer;
	else if (b->layer->kv)
		place = (size_t)(b->layer->kv - b->model->layer);
	if (!o->shares && (o->sight != SIGHT_ENCODER || !b->il))
		build_place_kv(b, o, place);
	if (!b->failed)
		memcpy(o->offset, b->kv_offsets[place].at, sizeof o->offset);
}

/* The number of first rows that see all positions, because there are no more groups than the indexer chooses: by head,
 * those of the first `top` groups; otherwise those before the end of group `top` + 1, as an incomplete group is always
 * seen. */
static size_t rows_seeing_all(const struct builder *b)
{
	const struct indexer *i = &b->model->indexer;

	return i->local ? i->top * b->layer->ratio : (i->top + 1) * build_chosen_size(b) - 1;
}

/* Whether nobody reads rows that are not wanted after this attention. */
static int is_last(const struct builder *b)
{
	return b->il + 1 == b->model->n_layer && b->sight != SIGHT_ENCODER && b->sight != SIGHT_ANSWER;
}

struct op_attention build_attention_of(struct builder *b)
{
	const struct layer *l = b->layer;

	return (struct op_attention){
		.qkv = build_qkv_buffer(b), .out = buffer_with(b->plan->h, l->n_head * l->dim_v),
		.heads = { .dim_k = l->dim_k, .dim_v = l->dim_v, .n_head = l->n_head, .n_head_kv = l->n_head_kv,
			.scale = l->scale, .window = l->window, .chunk = l->chunk, .v_in_k = l->v_in_k,
			.slope = l->slope, .bias = b->sight == SIGHT_CROSS ? NULL : b->biases,
			.cap = b->model->attn_cap },
		.pairs = b->model->pairs, .rope = l->rope ? build_rope(b, l->rope, 1) : NULL,
		.temperature = l->temperature, .rope_at = l->rope_at, .recent = layer_window(l) > 0,
		.sight = b->sight, .shares = l->kv != NULL || b->sight == SIGHT_CROSS,
	};
}

struct buffer build_attend(struct builder *b, enum head_norms norms)
{
	const struct layer *l = b->layer;
	const struct kernels *k = b->plan->setup.kernels;
	size_t out = l->n_head * l->dim_v, group = l->n_head / l->n_head_kv;
	struct op_attention o = build_attention_of(b);
	struct op *op;

	if (l->v_norms_bare && !l->kv)
		o.v_norm = (struct norm){ .kind = NORM_RMS, .eps = b->model->eps };
	if (model_has(b->model, build_name(b, "attn_sinks", build_suffix(b, "attn_sinks")).s))
		o.heads.sink = build_vector(b, "attn_sinks", build_suffix(b, "attn_sinks"), l->n_head);
	head_norms(b, norms, &o);
	set_offset(b, &o);
	build_output(build_append(b, &op_prepare, NULL, &o, sizeof o), 0, "", o.qkv, layer_qkv(l));
	if (!o.shares)
		build_append(b, &op_store, NULL, &o, sizeof o);
	b->wanted = is_last(b);
	if (b->model->compressed.rank_q) {
		build_attend_groups(b, &o);
		return o.out;
	}
	o.top = l->sparse ? rows_seeing_all(b) : 0;
	op = build_append(b, &op_attend, NULL, &o, sizeof o);
	if (op) {
		op->scratch = k->attend_scratch(l->dim_k, l->dim_v, group);
		op->block_bytes = l->n_head_kv * size_max(k->attend_partial(l->dim_v, ATTEND_FEW * group),
			ATTEND_FEW * k->attend_partial(l->dim_v, group));
	}
	build_output(build_append(b, &op_join, "attend", &o, sizeof o), 0, "", o.out, out);
	if (l->sparse)
		build_attend_groups(b, &o);
	return o.out;
}

struct packed *build_attended(struct builder *b, struct buffer out)
{
	struct op_rows pack = { .n = out.stride, .in = out, .out = out };
	struct op_select gate = { .buffers = 1, .x = { gates(b) }, .n = { n_gates(b) } };

	if (b->layer->gates) {
		if (b->wanted)
			build_append(b, &op_select, NULL, &gate, sizeof gate);
		pack.in = gates(b);
		pack.up = out;
		pack.f = b->layer->gates == GATES_HEADS ? ROW_GATES : ROW_GLU;
		pack.gates = b->layer->n_head;
		pack.unary = b->model->family->decoder.softplus_gates ? UNARY_SOFTPLUS : UNARY_SIGMOID;
	}
	if (b->model->family->decoder.sub_norms)
		pack.norm = build_norm_of(b, "attn_sub_norm", pack.n);
	build_packing(b, "attn_pack", &pack, SLOT_BRANCH);
	select_wanted(b, b->plan->x, 0);
	return pack.packed;
}

struct packed *build_attention(struct builder *b, enum head_norms norms)
{
	return build_attended(b, build_attend(b, norms));
}
