/* The builder: ops appended, tensors found and checked. */
#include "build.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"
#include "families.h"

struct tensor_name build_name(const struct builder *b, const char *name, const char *suffix)
{
	struct tensor_name n;

	if (b->il == OP_NO_LAYER)
		snprintf(n.s, sizeof n.s, "%s.%s", name, suffix);
	else
		snprintf(n.s, sizeof n.s, "blk.%zu.%s%s%s", b->layer->block, name, *suffix ? "." : "", suffix);
	return n;
}

void *build_allocate(struct builder *b, size_t size)
{
	void *p = b->failed ? NULL : plan_memory(b->plan, 1, size);

	if (!p && !b->failed)
		b->failed = why(b->w, "out of memory");
	return p;
}

/* ---- tensors ---- */

static void matrices(struct builder *b, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out)
{
	if (!b->failed && model_matrices(b->model, build_name(b, name, "weight").s, n, rows, cols, out, b->w) < 0)
		b->failed = -1;
}

static void matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out)
{
	matrices(b, name, 1, rows, cols, out);
}

const float *build_vector(struct builder *b, const char *name, const char *suffix, size_t n)
{
	const float *v = NULL;

	if (!b->failed && model_vector(b->model, build_name(b, name, suffix).s, n, &v, b->w) < 0)
		b->failed = -1;
	return v;
}

const float *build_transposed(struct builder *b, const char *name, const char *suffix, size_t n, size_t cols)
{
	const float *from = build_vector(b, name, suffix, n * cols);
	float *to = build_allocate(b, n * cols * sizeof *to);

	for (size_t i = 0; from && to && i < n * cols; i++)
		to[i % cols * n + i / cols] = from[i];
	return to;
}

const float *build_repeated(struct builder *b, const float *x, size_t n, size_t times)
{
	float *y = build_allocate(b, n * times * sizeof *y);

	for (size_t i = 0; x && y && i < n * times; i++)
		y[i] = x[i / times];
	return y;
}

int build_has(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "weight").s);
}

const float *build_bias(struct builder *b, const char *name, size_t n)
{
	return model_has(b->model, build_name(b, name, "bias").s) ? build_vector(b, name, "bias", n) : NULL;
}

/* What weights are still to be multiplied by, one number for each of n experts; NULL where the file has none.
 * input_scale is for hardware that quantises the activations to 4-bit floats. */
static const float *scale_of(struct builder *b, const char *name, size_t n)
{
	const struct gguf_tensor *t;

	if (model_has(b->model, build_name(b, name, "input_scale").s))
		build_vector(b, name, "input_scale", n);
	t = gguf_tensor(b->model->gguf, build_name(b, name, "scale").s);
	return t && t->dim[0] == n ? build_vector(b, name, "scale", n) : NULL;
}

/* The files of Falcon-H1 and PLaMo 3 leave ".weight" out of some names. */
struct norm build_norm_of(struct builder *b, const char *name, size_t n)
{
	struct norm norm = { .kind = b->model->norm, .eps = b->model->eps };

	if (!b->model->family->decoder.bare_norms)
		norm.weight = build_vector(b, name, model_has(b->model, build_name(b, name, "").s) ? "" : "weight", n);
	norm.bias = build_bias(b, name, n);
	return norm;
}

/* ---- ops ---- */

struct op *build_append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound,
	size_t size)
{
	struct plan *p = b->plan;
	void *copy = build_allocate(b, size);
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

void build_leaves(struct op *op, size_t i, const char *suffix, struct buffer from, size_t cols)
{
	if (op)
		op->output[i] = (struct output){ .suffix = suffix, .from = from, .cols = cols };
}

/* ---- state ---- */

/* Appends n to a size of the state; where it begins. */
static size_t build_share(struct builder *b, size_t *size, size_t n)
{
	size_t at = *size;

	b->plan->layout = gguf_hash(&n, sizeof n, b->plan->layout);
	*size += n;
	return at;
}

size_t build_ring(struct builder *b, size_t bytes)
{
	return build_share(b, &b->plan->row_bytes, bytes);
}

size_t build_state(struct builder *b, size_t floats)
{
	return build_share(b, &b->plan->state_floats, (floats + 15) / 16 * 16);
}

/* ---- products ---- */

/* Matrices in a tensor: of experts, of heads, or a single one. */
static size_t shares(const struct op_product *o)
{
	return o->routing ? o->routing->n : o->heads ? o->heads : 1;
}

void build_add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t rows,
	struct buffer y)
{
	if (b->failed)
		return;
	matrices(b, name, shares(o), rows, o->x->k, &o->w[o->n]);
	o->scale[o->n] = scale_of(b, name, o->routing ? o->routing->n : 1);
	o->bias[o->n] = build_bias(b, name, shares(o) * rows);
	if (b->failed)
		return;
	o->kind[o->n] = b->plan->setup.kernels->acts_kind(o->w[o->n].format, wide == WIDE);
	o->x->wants[o->kind[o->n]] = 1;
	o->y[o->n++] = y;
}

/* The matrices of all experts or heads as one. */
static const struct matrix *all_shares(struct builder *b, const struct op_product *o)
{
	struct matrix *w = build_allocate(b, o->n * sizeof *w);

	for (size_t i = 0; w && i < o->n; i++) {
		w[i] = o->w[i];
		w[i].rows *= shares(o);
	}
	return w;
}

void build_products(struct builder *b, const char *name, const struct op_product *o)
{
	struct op *op = build_append(b, &op_product, name, o, sizeof *o);
	size_t cols = 0;

	if (!op)
		return;
	for (size_t i = 0; i < o->n; i++)
		cols += o->w[i].rows;
	op->weights = shares(o) > 1 ? all_shares(b, o) : ((const struct op_product *)op->bound)->w;
	op->n_weights = op->weights ? o->n : 0;
	op->scratch = b->plan->setup.kernels->product_scratch(o->x->k);
	if (!o->routing)
		build_leaves(op, 0, "", o->y[0], cols);
}

void build_product(struct builder *b, struct packed *x, const char *name, enum precision wide, size_t rows,
	struct buffer y)
{
	struct op_product o = { .x = x };

	build_add_product(b, &o, name, wide, rows, y);
	build_products(b, name, &o);
}

void build_by_head(struct builder *b, const char *name, struct op_head_rows o, size_t rows, struct buffer to,
	size_t to_step)
{
	struct op_product p = { .heads = o.heads, .step = to_step };

	p.x = o.packed = build_packed(b, o.n, SLOT_EXPERTS);
	if (!o.packed)
		return;
	o.packed->experts = o.packed->used = o.heads;
	for (int kind = 0; kind < ACTS_KINDS; kind++)
		o.packed->by_expert[kind] = build_allocate(b, o.heads * sizeof *o.packed->by_expert[kind]);
	build_append(b, &op_head_rows, "head_rows", &o, sizeof o);
	build_add_product(b, &p, name, WIDE, rows, to);
	build_products(b, name, &p);
}

/* ---- rows ---- */

struct packed *build_packed(struct builder *b, size_t k, enum slot slot)
{
	struct packed *packed = build_allocate(b, sizeof *packed);

	if (packed) {
		*packed = (struct packed){ .k = k, .slot = slot, .next = b->plan->packed };
		b->plan->packed = packed;
	}
	return packed;
}

struct op *build_packing(struct builder *b, const char *name, struct op_rows *o, enum slot slot)
{
	o->packed = build_packed(b, o->n, slot);
	return build_append(b, &op_rows, name, o, sizeof *o);
}

struct packed *build_pack(struct builder *b, const char *name, struct buffer x, size_t n, enum slot slot)
{
	struct op_rows o = { .n = n, .in = x, .out = x };

	build_packing(b, name, &o, slot);
	return o.packed;
}

/* o first adds the branch that is still to be added to x, if there is one; whether there is. */
static int add_pending(struct builder *b, struct op_rows *o)
{
	int pending = b->pending;

	if (pending) {
		o->x = b->plan->x;
		o->branch = b->plan->branch;
		o->branch_norm = b->post;
		o->scale = b->model->residual_scale * (b->branch_scale > 0 ? b->branch_scale : 1);
		o->x_scale = b->sum_scale;
	}
	b->pending = 0;
	b->branch_scale = 0;
	b->sum_scale = 0;
	b->post = (struct norm){ .kind = NORM_NONE };
	return pending;
}

void build_add_branch(struct builder *b)
{
	struct op_rows o = { .n = b->model->n_embd, .in = b->plan->x, .out = b->plan->x };

	if (add_pending(b, &o))
		build_leaves(build_append(b, &op_rows, "add", &o, sizeof o), 0, "", o.out, o.n);
}

/* Row by row: o, which may add a branch, then the norm. */
static struct packed *append_norm(struct builder *b, const char *name, struct op_rows o)
{
	size_t n = o.n = b->model->n_embd;
	struct op *op;

	o.in = o.out = b->plan->x;
	if (*name) {
		o.out = buffer_with(b->plan->h, n);
		o.norm = build_norm_of(b, name, n);
	} else
		name = "rows";
	op = build_packing(b, name, &o, SLOT_NORMED);
	build_leaves(op, 0, "", o.out, n);
	build_leaves(op, 1, ".in", o.in, n);
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

void build_norm_stream(struct builder *b, const char *name)
{
	struct op_rows o = { .n = b->model->n_embd, .in = b->plan->x, .out = b->plan->x };
	size_t il = b->il;

	add_pending(b, &o);
	b->il = OP_NO_LAYER;
	o.norm = build_norm_of(b, name, o.n);
	b->il = il;
	build_append(b, &op_rows, name, &o, sizeof o);
}

struct packed *build_scaled_norm(struct builder *b, const char *name, const float *weight, float divisor)
{
	size_t n = b->model->n_embd;
	struct op_rows o = { .n = n, .in = b->plan->x, .out = buffer_with(b->plan->h, n) };
	float *scaled = build_allocate(b, n * sizeof *scaled);

	for (size_t i = 0; scaled && i < n; i++)
		scaled[i] = weight[i] / divisor;
	o.norm = (struct norm){ .kind = NORM_RMS, .weight = scaled, .eps = b->model->eps };
	build_packing(b, name, &o, SLOT_NORMED);
	return o.packed;
}

void build_add_normed(struct builder *b)
{
	struct op_rows o = { .n = b->model->n_embd, .x = b->plan->x, .scale = 1, .in = b->plan->x, .out = b->plan->x,
		.branch = buffer_with(b->plan->h, b->model->n_embd) };

	build_append(b, &op_rows, "add", &o, sizeof o);
}

void build_branch_scale(struct builder *b, float scale)
{
	b->branch_scale = scale;
}

void build_sum_scale(struct builder *b, float scale)
{
	b->sum_scale = scale;
}

void build_post_norm(struct builder *b, const char *name)
{
	b->post = build_norm_of(b, name, b->model->n_embd);
	if (b->model->post_eps > 0)
		b->post.eps = b->model->post_eps;
}

void build_branch(struct builder *b, struct packed *x, const char *name)
{
	build_add_branch(b);
	build_product(b, x, name, NARROW, b->model->n_embd, b->plan->branch);
	b->pending = 1;
}

struct packed *build_low_rank(struct builder *b, struct packed *x, const char *name, size_t n)
{
	struct buffer low = buffer_with(b->plan->wide, n);

	build_product(b, x, name, NARROW, n, low);
	return build_pack(b, "low_rank_pack", low, n, SLOT_BRANCH);
}

void build_scale(struct builder *b, const char *name)
{
	struct op_rows o = { .in = b->plan->x, .out = b->plan->x, .n = b->model->n_embd };
	const float *scale = build_vector(b, name, "weight", 1);

	if (b->failed)
		return;
	add_pending(b, &o);
	o.x_scale = *scale;
	build_append(b, &op_rows, name, &o, sizeof o);
}

void build_add_carried(struct builder *b, const char *name)
{
	struct op_rows o = { .in = b->plan->x, .out = b->plan->x, .n = b->model->n_embd, .x = b->plan->x,
		.branch = b->plan->carried };
	const float *scale = build_vector(b, name, "weight", 1);

	build_add_branch(b);
	if (b->failed)
		return;
	o.scale = *scale;
	build_append(b, &op_rows, name, &o, sizeof o);
}

/* x += rows. */
static void add_rows(struct builder *b, const char *name, struct buffer rows)
{
	struct op_rows o = { .in = b->plan->x, .out = b->plan->x, .n = b->model->n_embd, .x = b->plan->x,
		.branch = rows, .scale = 1 };

	build_append(b, &op_rows, name, &o, sizeof o);
}

void build_add_constant(struct builder *b, const char *name)
{
	size_t n = b->model->n_embd;
	const float *vector = NULL;
	float *row = build_allocate(b, n * sizeof *row);

	if (b->failed || (b->failed = model_vector(b->model, name, n, &vector, b->w)) < 0)
		return;
	memcpy(row, vector, n * sizeof *row);
	add_rows(b, name, (struct buffer){ .at = row });        /* the same for all */
}

static void copy_rows(struct builder *b, const char *name, struct buffer from, struct buffer to)
{
	struct op_copy o = { .copies = 1, .copy = { { .from = from, .to = to, .heads = 1, .n = b->model->n_embd } } };

	build_append(b, &op_copy, name, &o, sizeof o);
}

void build_add_other(struct builder *b, int replace)
{
	struct buffer spare = buffer_with(b->plan->h, b->model->n_embd);

	build_norm_stream(b, "stack_norm");
	if (replace)
		copy_rows(b, "stack_kept", b->plan->x, spare);
	add_rows(b, "stack_sum", b->plan->carried);
	if (replace)
		copy_rows(b, "stack_kept", spare, b->plan->carried);
}

/* ---- all layers ---- */

/* The layers' own inputs, from the ids and the embedding. */
static void build_per_layer_inputs(struct builder *b)
{
	const struct model *m = b->model;
	size_t n = m->n_per_layer, all = n * m->n_layer;
	struct op_per_layer o = { .layers = m->n_layer, .n = n, .scale = sqrtf((float)n),
		.root = sqrtf((float)m->n_embd), .p = b->plan->per_layer, .spare = b->plan->per_layer_ids };

	build_product(b, build_norm(b, ""), "per_layer_model_proj", NARROW, all, o.p);
	matrix(b, "per_layer_token_embd", m->n_vocab, all, &o.ids);
	o.norm = build_norm_of(b, "per_layer_proj_norm", n);
	build_append(b, &op_per_layer, NULL, &o, sizeof o);
}

static void build_embed(struct builder *b)
{
	const struct model *m = b->model;
	struct op_embed e = { .x = b->plan->x, .spare = buffer_with(b->plan->h, m->n_embd),
		.scale = m->embedding_scale };
	struct op_rows norm = { .n = m->n_embd, .in = e.x, .out = e.x };

	matrix(b, "token_embd", m->n_vocab, m->n_embd, &e.ids);
	if (m->family->learned_positions)
		matrix(b, "position_embd", m->n_ctx_max, m->n_embd, &e.positions);
	build_leaves(build_append(b, &op_embed, NULL, &e, sizeof e), 0, "", e.x, m->n_embd);
	if (m->embedding_normed)
		norm.norm = (struct norm){ .kind = m->norm, .eps = m->eps };
	else if (build_has(b, "token_embd_norm") && !m->family->final_norm)
		norm.norm = build_norm_of(b, "token_embd_norm", m->n_embd);
	if (norm.norm.kind != NORM_NONE)
		build_append(b, &op_rows, "token_embd_norm", &norm, sizeof norm);
	if (m->embedding_carried)
		copy_rows(b, "embed_carried", e.x, b->plan->carried);
	if (m->n_per_layer)
		build_per_layer_inputs(b);
	if (m->n_streams > 1)
		build_streams(b);
}

/* output_norm and output, or token_embd again where the file has no output. */
static void build_head(struct builder *b)
{
	const struct model *m = b->model;
	struct op_product o = { .x = build_norm(b, m->family->final_norm ? m->family->final_norm : "output_norm") };
	struct op_logits logits = { .n = m->n_vocab, .scale = m->logit_scale, .cap = m->logit_cap,
		.from = m->ruled_out.from, .to = m->ruled_out.to };

	build_add_product(b, &o, build_has(b, "output") ? "output" : "token_embd", NARROW, m->n_vocab,
		(struct buffer){ .at = NULL });
	build_products(b, "output", &o);
	if (logits.scale < 1 || logits.scale > 1 || logits.cap > 0 || logits.to)
		build_append(b, &op_logits, NULL, &logits, sizeof logits);
}

/* What the layer leaves is kept for the head. */
static void build_lens(struct builder *b)
{
	struct plan *p = b->plan;
	size_t il = b->il;
	struct op_copy o = { .copies = 1, .copy = { { .from = p->x, .to = p->lens[il], .heads = 1,
		.n = p->model->n_embd * p->model->n_streams } } };

	build_add_branch(b);
	build_append(b, &op_copy, "lens", &o, sizeof o);
	if (p->model->n_streams > 1) {
		b->il = OP_NO_LAYER;
		build_unite(b, p->lens[il]);
		b->il = il;
	}
}

int build_plan(struct plan *p, struct why *w)
{
	struct builder b = { .plan = p, .model = p->model, .w = w, .il = OP_NO_LAYER };

	if (p->setup.first == 0)
		build_embed(&b);
	b.il = OP_NO_LAYER;
	b.places = build_allocate(&b, p->model->n_layer * sizeof *b.places);
	for (b.il = p->setup.first; b.il < p->setup.last; b.il++) {
		b.layer = &p->model->layer[b.il];
		(p->model->family->layer ? p->model->family->layer : decoder_layer)(&b, b.il);
		if (p->lens)
			build_lens(&b);
	}
	b.il = OP_NO_LAYER;
	/* The last branch is added once; the head may then run over the rows in any portions. */
	build_add_branch(&b);
	if (p->setup.last == p->model->n_layer && p->model->n_streams > 1)
		build_unite(&b, p->x);
	p->n_body = p->n_ops;
	if (p->setup.last == p->model->n_layer)
		build_head(&b);
	return b.failed;
}
