/* The builder: ops appended, tensors found and checked. */
#include "builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/plan/kinds.h"
#include "lib/base/size.h"
#include "families.h"

struct tensor_name {
	char s[96];
};

static struct tensor_name full_name(const struct builder *b, const char *name, const char *suffix)
{
	struct tensor_name n;

	if (b->il == OP_NO_LAYER)
		snprintf(n.s, sizeof n.s, "%s.%s", name, suffix);
	else
		snprintf(n.s, sizeof n.s, "blk.%zu.%s.%s", b->il, name, suffix);
	return n;
}

static void *allocate(struct builder *b, size_t size)
{
	void *p = b->failed ? NULL : plan_memory(b->plan, 1, size);

	if (!p && !b->failed)
		b->failed = why(b->w, "out of memory");
	return p;
}

/* ---- tensors ---- */

static void matrices(struct builder *b, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out)
{
	if (!b->failed && model_matrices(b->model, full_name(b, name, "weight").s, n, rows, cols, out, b->w) < 0)
		b->failed = -1;
}

static void matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out)
{
	matrices(b, name, 1, rows, cols, out);
}

static const float *vector(struct builder *b, const char *name, const char *suffix, size_t n)
{
	const float *v = NULL;

	if (!b->failed && model_vector(b->model, full_name(b, name, suffix).s, n, &v, b->w) < 0)
		b->failed = -1;
	return v;
}

int build_has(const struct builder *b, const char *name)
{
	return model_has(b->model, full_name(b, name, "weight").s);
}

/* NULL where the file has none. */
static const float *bias_of(struct builder *b, const char *name, size_t n)
{
	return model_has(b->model, full_name(b, name, "bias").s) ? vector(b, name, "bias", n) : NULL;
}

/* The family's kind of norm, with n weights. */
static struct norm norm_of(struct builder *b, const char *name, size_t n)
{
	struct norm norm = { .kind = b->model->family->norm, .eps = b->model->eps };

	if (!b->model->family->decoder.bare_norms)
		norm.weight = vector(b, name, "weight", n);
	norm.bias = bias_of(b, name, n);
	return norm;
}

/* ---- ops ---- */

static struct buffer at_column(struct buffer b, size_t column)
{
	b.at += column;
	return b;
}

static struct buffer with_stride(struct buffer b, size_t stride)
{
	b.stride = stride;
	return b;
}

/* A new op at the end of the plan, with a copy of what it is bound to. NULL after a failure. name NULL: the kind's. */
static struct op *append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound,
	size_t size)
{
	struct plan *p = b->plan;
	void *copy = allocate(b, size);
	struct op *more;

	if (copy && p->n_ops == b->room) {
		b->room = 2 * b->room + 64;
		more = realloc(p->op, b->room * sizeof *more);
		if (more)
			p->op = more;
		else
			b->failed = why(b->w, "out of memory");
	}
	if (b->failed)
		return NULL;
	memcpy(copy, bound, size);
	p->op[p->n_ops] = (struct op){ .kind = kind, .bound = copy, .name = name ? name : kind->name, .layer = b->il,
		.wanted = b->wanted };
	return &p->op[p->n_ops++];
}

static void leaves(struct op *op, size_t i, const char *suffix, struct buffer from, size_t cols)
{
	if (op)
		op->output[i] = (struct output){ .suffix = suffix, .from = from, .cols = cols };
}

/* ---- products ---- */

enum precision { NARROW, WIDE };        /* of quantised activations: see acts_kind in kernels.h */

/* One more product of the rows o->x. */
static void add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t rows,
	struct buffer y)
{
	if (b->failed)
		return;
	if (o->routing)
		matrices(b, name, o->routing->n, rows, o->x->k, &o->w[o->n]);
	else
		matrix(b, name, rows, o->x->k, &o->w[o->n]);
	o->bias[o->n] = bias_of(b, name, o->routing ? o->routing->n * rows : rows);
	if (b->failed)
		return;
	o->kind[o->n] = b->plan->setup.kernels->acts_kind(o->w[o->n].format, wide == WIDE);
	o->x->wants[o->kind[o->n]] = 1;
	o->y[o->n++] = y;
}

/* The matrices of all experts as one. */
static const struct matrix *all_experts(struct builder *b, const struct op_product *o)
{
	struct matrix *w = allocate(b, o->n * sizeof *w);

	for (size_t i = 0; w && i < o->n; i++) {
		w[i] = o->w[i];
		w[i].rows *= o->routing->n;
	}
	return w;
}

/* The results lie side by side from y[0] on. */
static void append_products(struct builder *b, const char *name, const struct op_product *o)
{
	struct op *op = append(b, &op_product, name, o, sizeof *o);
	size_t cols = 0;

	if (!op)
		return;
	for (size_t i = 0; i < o->n; i++)
		cols += o->w[i].rows;
	op->weights = o->routing ? all_experts(b, o) : ((const struct op_product *)op->bound)->w;
	op->n_weights = op->weights ? o->n : 0;
	op->scratch = b->plan->setup.kernels->product_scratch(o->x->k);
	if (!o->routing)
		leaves(op, 0, "", o->y[0], cols);
}

/* A single one; the op has the tensor's name. */
static void append_product(struct builder *b, struct packed *x, const char *name, enum precision wide, size_t rows,
	struct buffer y)
{
	struct op_product o = { .x = x };

	add_product(b, &o, name, wide, rows, y);
	append_products(b, name, &o);
}

/* ---- rows ---- */

/* Packed rows of k elements, to be filled by an op. */
static struct packed *new_packed(struct builder *b, size_t k, enum slot slot)
{
	struct packed *packed = allocate(b, sizeof *packed);

	if (packed) {
		*packed = (struct packed){ .k = k, .slot = slot, .next = b->plan->packed };
		b->plan->packed = packed;
	}
	return packed;
}

/* An op over rows that packs its result. */
static struct op *append_packing(struct builder *b, const char *name, struct op_rows *o, enum slot slot)
{
	o->packed = new_packed(b, o->n, slot);
	return append(b, &op_rows, name, o, sizeof *o);
}

/* o first adds the branch that is still to be added to x, if there is one; whether there is. */
static int add_pending(struct builder *b, struct op_rows *o)
{
	int pending = b->pending;

	if (pending) {
		o->x = b->plan->x;
		o->branch = b->plan->branch;
		o->branch_norm = b->post;
		o->scale = b->model->residual_scale;
	}
	b->pending = 0;
	b->post = (struct norm){ .kind = NORM_NONE };
	return pending;
}

/* Adds it now. */
static void add_branch(struct builder *b)
{
	struct op_rows o = { .n = b->model->n_embd, .in = b->plan->x, .out = b->plan->x };

	if (add_pending(b, &o))
		leaves(append(b, &op_rows, "add", &o, sizeof o), 0, "", o.out, o.n);
}

/* Row by row: o, which may add a branch, then the norm. */
static struct packed *append_norm(struct builder *b, const char *name, struct op_rows o)
{
	size_t n = o.n = b->model->n_embd;
	struct op *op;

	o.in = o.out = b->plan->x;
	if (*name) {
		o.out = with_stride(b->plan->h, n);
		o.norm = norm_of(b, name, n);
	} else
		name = "rows";
	op = append_packing(b, name, &o, SLOT_NORMED);
	leaves(op, 0, "", o.out, n);
	leaves(op, 1, ".in", o.in, n);
	return o.packed;
}

struct packed *build_norm(struct builder *b, const char *name)
{
	struct op_rows o = { .n = 0 };

	add_pending(b, &o);
	return append_norm(b, name, o);
}

struct packed *build_norm_beside(struct builder *b, const char *name)
{
	return append_norm(b, name, (struct op_rows){ .n = 0 });
}

void build_post_norm(struct builder *b, const char *name)
{
	b->post = norm_of(b, name, b->model->n_embd);
}

/* The activation is made where the product's result lies; n elements are left. */
static struct packed *activate(struct builder *b, size_t n, enum row_function f, enum unary unary, struct buffer wide)
{
	struct op_rows o = { .n = n, .in = wide, .out = wide, .f = f, .unary = unary, .xielu = b->layer->xielu };

	if (b->model->family->decoder.sub_norms)
		o.norm = norm_of(b, "ffn_sub_norm", n);
	leaves(append_packing(b, "ffn_act", &o, SLOT_BRANCH), 0, "", o.out, o.n);
	return o.packed;
}

/* f(gate · x) · (up · x), n elements; up may hold the rows of both. */
static struct packed *gated(struct builder *b, struct packed *x, const char *gate, const char *up, size_t n,
	enum unary f)
{
	struct buffer wide = with_stride(b->plan->wide, 2 * n);
	struct op_product o = { .x = x };

	if (build_has(b, gate)) {
		add_product(b, &o, gate, NARROW, n, wide);
		add_product(b, &o, up, NARROW, n, at_column(wide, n));
	} else
		add_product(b, &o, up, NARROW, 2 * n, wide);
	append_products(b, "ffn_gate_up", &o);
	return activate(b, n, ROW_GLU, f, wide);
}

struct packed *build_gated(struct builder *b, struct packed *x, enum unary f)
{
	return gated(b, x, "ffn_gate", "ffn_up", b->layer->n_ff, f);
}

struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f)
{
	struct buffer wide = with_stride(b->plan->wide, b->layer->n_ff);

	append_product(b, x, "ffn_up", NARROW, b->layer->n_ff, wide);
	return activate(b, b->layer->n_ff, b->model->family->decoder.xielu ? ROW_XIELU : ROW_UNARY, f, wide);
}

void build_branch(struct builder *b, struct packed *x, const char *name)
{
	add_branch(b);
	append_product(b, x, name, NARROW, b->model->n_embd, b->plan->branch);
	b->pending = 1;
}

/* ---- experts ---- */

/* Rows of n elements for the experts' products, one after the other by expert. */
static struct packed *expert_rows(struct builder *b, const char *name, struct op_expert_rows o)
{
	struct packed *packed = new_packed(b, o.n, SLOT_EXPERTS);
	struct op *op;

	o.packed = packed;
	if (!packed)
		return NULL;
	packed->experts = o.routing->n;
	packed->used = o.routing->used;
	for (int kind = 0; kind < ACTS_KINDS; kind++)
		packed->by_expert[kind] = allocate(b, packed->experts * sizeof *packed->by_expert[kind]);
	op = append(b, &op_expert_rows, name, &o, sizeof o);
	if (op && o.gathers)
		op->scratch = b->plan->setup.kernels->acts_columns * o.n * sizeof(float);
	return packed;
}

void build_router(struct builder *b, struct packed *x)
{
	append_product(b, x, "ffn_gate_inp", NARROW, b->layer->experts->n, b->plan->mixture.logits);
}

/* Which experts each row goes to. */
static void route(struct builder *b)
{
	struct mixture *m = &b->plan->mixture;
	const struct experts *e = b->layer->experts;
	struct op_route o = { .routing = &m->routing, .experts = e, .logits = m->logits };

	o.bias = bias_of(b, "exp_probs_b", e->n);
	append(b, &op_route, NULL, &o, sizeof o);
}

/* The shared expert's result and, where it is weighted, its gate. */
static void shared_expert(struct builder *b, struct packed *x, enum unary f, struct op_combine *to)
{
	struct mixture *m = &b->plan->mixture;

	if (build_has(b, "ffn_gate_inp_shexp")) {
		append_product(b, x, "ffn_gate_inp_shexp", NARROW, 1, m->gate);
		to->gate = m->gate;
	}
	x = gated(b, x, "ffn_gate_shexp", "ffn_up_shexp", b->layer->experts->n_ff_shared, f);
	append_product(b, x, "ffn_down_shexp", NARROW, b->model->n_embd, m->shared);
	to->shared = m->shared;
}

void build_experts(struct builder *b, struct packed *x, enum unary f)
{
	struct mixture *m = &b->plan->mixture;
	size_t n_embd = b->model->n_embd, n_ff = b->layer->experts->n_ff;
	struct op_product up = { .routing = &m->routing }, down = up;
	struct op_combine sum = { .routing = &m->routing, .n = n_embd, .in = m->out, .out = b->plan->branch };
	int weighted = sum.unweighted = b->layer->experts->weighted;

	add_branch(b);
	if (!b->model->family->decoder.routes_input)
		build_router(b, x);
	route(b);
	up.x = expert_rows(b, "ffn_rows", (struct op_expert_rows){ .routing = &m->routing, .n = n_embd,
		.in = with_stride(b->plan->h, n_embd), .gathers = 1, .weighted = weighted });
	if (build_has(b, "ffn_gate_exps")) {
		add_product(b, &up, "ffn_gate_exps", NARROW, n_ff, m->wide);
		add_product(b, &up, "ffn_up_exps", NARROW, n_ff, at_column(m->wide, n_ff));
	} else
		add_product(b, &up, "ffn_gate_up_exps", NARROW, 2 * n_ff, m->wide);
	append_products(b, "ffn_gate_up_exps", &up);
	down.x = expert_rows(b, "ffn_act", (struct op_expert_rows){ .routing = &m->routing, .n = n_ff, .in = m->wide,
		.gated = 1, .unary = f });
	add_product(b, &down, "ffn_down_exps", NARROW, n_embd, m->out);
	append_products(b, "ffn_down_exps", &down);
	if (b->layer->experts->n_ff_shared)
		shared_expert(b, x, f, &sum);
	leaves(append(b, &op_combine, "ffn_experts", &sum, sizeof sum), 0, "", sum.out, n_embd);
	b->pending = 1;
}

/* ---- attention ---- */

static struct buffer qkv_of(const struct builder *b)
{
	return with_stride(b->plan->wide, layer_qkv(b->layer));
}

void build_qkv(struct builder *b, struct packed *x)
{
	const struct layer *l = b->layer;
	size_t q = l->n_head * l->dim_k, k = l->n_head_kv * l->dim_k, v = l->n_head_kv * l->dim_v;
	struct op_product o = { .x = x };
	struct op_rows clamp = { .n = q + k + v, .in = qkv_of(b), .out = qkv_of(b), .f = ROW_CLAMP,
		.most = b->model->qkv_clamp };

	if (build_has(b, "attn_qkv"))
		add_product(b, &o, "attn_qkv", WIDE, q + k + v, qkv_of(b));
	else {
		add_product(b, &o, "attn_q", WIDE, q, qkv_of(b));
		add_product(b, &o, "attn_k", WIDE, k, at_column(qkv_of(b), q));
		add_product(b, &o, "attn_v", WIDE, v, at_column(qkv_of(b), q + k));
	}
	append_products(b, "attn_qkv", &o);
	if (clamp.most > 0)
		append(b, &op_rows, "attn_clamp", &clamp, sizeof clamp);
}

/* The norm of n elements of q or k, of all heads together. */
static void norm_together(struct builder *b, const char *name, struct buffer x, size_t n)
{
	struct op_rows o = { .n = n, .in = x, .out = x, .norm = norm_of(b, name, n) };

	append(b, &op_rows, name, &o, sizeof o);
}

/* Norms of q and k, where the file has them. */
static void head_norms(struct builder *b, enum head_norms norms, struct op_attention *o)
{
	const struct layer *l = b->layer;
	size_t q = l->n_head * l->dim_k, k = l->n_head_kv * l->dim_k;

	if (l->head_norms_bare) {
		o->late = 1;
		o->q_norm = o->k_norm = (struct norm){ .kind = NORM_RMS, .eps = b->model->eps };
	}
	if (norms == HEADS_PLAIN || !build_has(b, "attn_q_norm"))
		return;
	if (norms == HEADS_NORMED_TOGETHER) {
		norm_together(b, "attn_q_norm", qkv_of(b), q);
		norm_together(b, "attn_k_norm", at_column(qkv_of(b), q), k);
		return;
	}
	o->late = norms == HEADS_NORMED_LATE;
	if (gguf_tensor(b->model->gguf, full_name(b, "attn_q_norm", "weight").s)->dim[1] == 1) {
		o->q_norm = norm_of(b, "attn_q_norm", l->dim_k);
		o->k_norm = norm_of(b, "attn_k_norm", l->dim_k);
		return;
	}
	o->norm_step = l->dim_k;
	o->q_norm = norm_of(b, "attn_q_norm", q);
	o->k_norm = norm_of(b, "attn_k_norm", k);
}

/* The rotations of this spec, whose angles are made before their first use. */
static const struct rope *rope_of(struct builder *b, const struct rope_spec *spec)
{
	struct op_angles o = { .rope = b->plan->ropes };

	while (o.rope && o.rope->spec != spec)
		o.rope = o.rope->next;
	if (o.rope || !(o.rope = allocate(b, sizeof *o.rope)))
		return o.rope;
	*o.rope = (struct rope){ .spec = spec, .next = b->plan->ropes };
	b->plan->ropes = o.rope;
	append(b, &op_angles, NULL, &o, sizeof o);
	return o.rope;
}

static void also_select(struct op_select *o, struct buffer x, size_t n)
{
	o->x[o->buffers] = x;
	o->n[o->buffers++] = n;
}

struct packed *build_attention(struct builder *b, enum head_norms norms)
{
	const struct layer *l = b->layer;
	const struct kernels *k = b->plan->setup.kernels;
	size_t out = l->n_head * l->dim_v, group = l->n_head / l->n_head_kv;
	struct op_attention o = {
		.qkv = qkv_of(b), .out = with_stride(b->plan->h, out), .layer = b->il - b->plan->setup.first,
		.heads = { .dim_k = l->dim_k, .dim_v = l->dim_v, .n_head = l->n_head, .n_head_kv = l->n_head_kv,
			.scale = l->scale, .window = l->window, .chunk = l->chunk,
			.slope = l->slope, .cap = b->model->attn_cap },
		.pairs = b->model->family->pairs, .rope = l->rope ? rope_of(b, l->rope) : NULL,
		.temperature = l->temperature,
	};
	struct op_rows pack = { .n = out, .in = o.out, .out = o.out };
	size_t n_embd = b->model->n_embd;
	struct op_select select = { .buffers = 1, .x = { b->plan->x }, .n = { n_embd } };
	struct op *op;

	if (build_has(b, "attn_sinks"))
		o.heads.sink = vector(b, "attn_sinks", "weight", l->n_head);
	head_norms(b, norms, &o);
	leaves(append(b, &op_prepare, NULL, &o, sizeof o), 0, "", o.qkv, layer_qkv(l));
	append(b, &op_store, NULL, &o, sizeof o);
	b->wanted = b->il + 1 == b->model->n_layer;     /* behind the last attention no other rows matter */
	op = append(b, &op_attend, NULL, &o, sizeof o);
	if (op) {
		op->scratch = k->attend_scratch(l->dim_k, l->dim_v, group);
		op->block_bytes = l->n_head_kv * k->attend_part(l->dim_v, ATTEND_FEW * group);
	}
	leaves(append(b, &op_join, "attend", &o, sizeof o), 0, "", o.out, out);
	if (b->model->family->decoder.sub_norms)
		pack.norm = norm_of(b, "attn_sub_norm", out);
	append_packing(b, "attn_pack", &pack, SLOT_BRANCH);
	if (b->pending)
		also_select(&select, b->plan->branch, n_embd);
	if (b->model->family->decoder.routes_input)
		also_select(&select, b->plan->mixture.logits, b->model->experts.n);
	if (b->wanted)
		append(b, &op_select, NULL, &select, sizeof select);
	return pack.packed;
}

/* ---- all layers ---- */

static void build_embed(struct builder *b)
{
	const struct model *m = b->model;
	struct op_embed e = { .x = b->plan->x, .spare = with_stride(b->plan->h, m->n_embd),
		.scale = m->embedding_scale };
	struct op_rows norm = { .n = m->n_embd, .in = e.x, .out = e.x };

	matrix(b, "token_embd", m->n_vocab, m->n_embd, &e.ids);
	if (m->family->learned_positions)
		matrix(b, "position_embd", m->n_ctx_max, m->n_embd, &e.positions);
	leaves(append(b, &op_embed, NULL, &e, sizeof e), 0, "", e.x, m->n_embd);
	if (build_has(b, "token_embd_norm")) {
		norm.norm = norm_of(b, "token_embd_norm", m->n_embd);
		append(b, &op_rows, "token_embd_norm", &norm, sizeof norm);
	}
}

/* output_norm and output, or token_embd again where the file has no output. */
static void build_head(struct builder *b)
{
	struct op_product o = { .x = build_norm(b, "output_norm") };
	const struct model *m = b->model;
	struct op_logits logits = { .n = m->n_vocab, .scale = m->logit_scale, .cap = m->logit_cap };

	add_product(b, &o, build_has(b, "output") ? "output" : "token_embd", NARROW, m->n_vocab,
		(struct buffer){ .at = NULL });
	append_products(b, "output", &o);
	if (logits.scale < 1 || logits.scale > 1 || logits.cap > 0)
		append(b, &op_logits, NULL, &logits, sizeof logits);
}

int build_plan(struct plan *p, struct why *w)
{
	struct builder b = { .plan = p, .model = p->model, .w = w, .il = OP_NO_LAYER };

	if (p->setup.first == 0)
		build_embed(&b);
	for (b.il = p->setup.first; b.il < p->setup.last; b.il++) {
		b.layer = &p->model->layer[b.il];
		(p->model->family->layer ? p->model->family->layer : decoder_layer)(&b, b.il);
	}
	b.il = OP_NO_LAYER;
	/* The last branch is added once; the head may then run over the rows in any portions. */
	add_branch(&b);
	p->n_body = p->n_ops;
	if (p->setup.last == p->model->n_layer)
		build_head(&b);
	return b.failed;
}
