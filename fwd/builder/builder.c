/* The functions that all of the builder uses: ops are appended, tensors found and checked. */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/model/family.h"

struct tensor_name build_name(const struct builder *b, const char *name, const char *suffix)
{
	const char *other = b->model->family->attn_output;
	struct tensor_name n;

	if (other && !strcmp(name, "attn_output"))
		name = other;
	if (b->il == OP_NO_LAYER)
		snprintf(n.s, sizeof n.s, "%s.%s", name, suffix);
	else
		snprintf(n.s, sizeof n.s, "%sblk.%zu.%s%s%s", b->stack, b->layer->block, name, *suffix ? "." : "",
			suffix);
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

const char *build_suffix(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "").s) ? "" : "weight";
}

static void matrices(struct builder *b, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out)
{
	const char *in_file = build_suffix(b, name);

	if (!b->failed && model_matrices(b->model, build_name(b, name, in_file).s, n, rows, cols, out, b->w) < 0)
		b->failed = -1;
}

void build_matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out)
{
	matrices(b, name, 1, rows, cols, out);
}

const float *build_table(struct builder *b, const char *name, const char *suffix, size_t rows, size_t cols)
{
	const float *v = NULL;

	if (!b->failed && model_table(b->model, build_name(b, name, suffix).s, rows, cols, &v, b->w) < 0)
		b->failed = -1;
	return v;
}

const float *build_vector(struct builder *b, const char *name, const char *suffix, size_t n)
{
	return build_table(b, name, suffix, 1, n);
}

const float *build_transposed(struct builder *b, const char *name, const char *suffix, size_t n, size_t cols)
{
	const float *from = build_table(b, name, suffix, n, cols);
	float *to = build_allocate(b, n * cols * sizeof *to);

	for (size_t i = 0; from && to && i < n * cols; i++)
		to[i % cols * n + i / cols] = from[i];
	return to;
}

const float *build_repeated(struct builder *b, const float *x, size_t n, size_t times)
{
	float *y = x ? build_allocate(b, n * times * sizeof *y) : NULL;

	for (size_t i = 0; y && i < n * times; i++)
		y[i] = x[i / times];
	return y;
}

const float *build_tiled(struct builder *b, const float *x, size_t n, size_t times)
{
	float *y = x ? build_allocate(b, n * times * sizeof *y) : NULL;

	for (size_t i = 0; y && i < n * times; i++)
		y[i] = x[i % n];
	return y;
}

void build_unfold(struct builder *b, const char *name, size_t n, size_t rows, size_t cols)
{
	model_unfold(b->model, build_name(b, name, "weight").s, n, rows, cols);
}

int build_has(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "weight").s);
}

void build_ignore(struct builder *b, const char *const *names, const char *suffix)
{
	for (; *names; names++)
		model_ignore(b->model, build_name(b, *names, suffix).s);
}

/* The biases of n matrices of `rows` rows; NULL if the file has none. */
static const float *biases(struct builder *b, const char *name, size_t n, size_t rows)
{
	return model_has(b->model, build_name(b, name, "bias").s) ? build_table(b, name, "bias", n, rows) : NULL;
}

const float *build_bias(struct builder *b, const char *name, size_t n)
{
	return biases(b, name, 1, n);
}

/* Factors of a matrix, one for each of n experts; NULL if the file has none. input_scale is for hardware that quantises
 * activations to 4-bit floats, and is ignored. */
static const float *scale_of(struct builder *b, const char *name, size_t n)
{
	const struct gguf_tensor *t;

	if (model_has(b->model, build_name(b, name, "input_scale").s))
		build_vector(b, name, "input_scale", n);
	t = gguf_tensor(b->model->gguf, build_name(b, name, "scale").s);
	return t && t->dim[0] == n ? build_vector(b, name, "scale", n) : NULL;
}

struct norm build_norms_of(struct builder *b, const char *name, size_t norms, size_t n)
{
	struct norm norm = { .kind = b->model->norm, .eps = b->model->eps };

	if (!b->model->family->decoder.bare_norms)
		norm.weight = build_table(b, name, build_suffix(b, name), norms, n);
	norm.bias = biases(b, name, norms, n);
	return norm;
}

struct norm build_norm_of(struct builder *b, const char *name, size_t n)
{
	return build_norms_of(b, name, 1, n);
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
		.stack = b->stack, .wanted = b->wanted };
	return &p->op[p->n_ops++];
}

void build_output(struct op *op, size_t i, const char *suffix, struct buffer from, size_t cols)
{
	if (op)
		op->output[i] = (struct output){ .suffix = suffix, .from = from, .cols = cols };
}

/* ---- state ---- */

size_t build_reserve(struct builder *b, size_t *size, size_t n)
{
	size_t at = *size;

	b->plan->layout = gguf_hash(&n, sizeof n, b->plan->layout);
	*size += n;
	return at;
}

size_t build_ring(struct builder *b, size_t bytes)
{
	return build_reserve(b, &b->plan->row_bytes, bytes);
}

size_t build_state(struct builder *b, size_t floats)
{
	return build_reserve(b, &b->plan->state_floats, (floats + 15) / 16 * 16);
}

/* ---- products ---- */

/* Number of matrices in a tensor: one for each expert, one for each head, or 1. */
static size_t n_matrices(const struct op_product *o)
{
	return o->routing ? o->routing->n : o->heads ? o->heads : 1;
}

void build_add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t rows,
	struct buffer y)
{
	if (b->failed)
		return;
	matrices(b, name, n_matrices(o), rows, o->x->k, &o->w[o->n]);
	o->scale[o->n] = scale_of(b, name, o->routing ? o->routing->n : 1);
	o->bias[o->n] = biases(b, name, n_matrices(o), rows);
	if (b->failed)
		return;
	o->kind[o->n] = b->plan->setup.kernels->acts_kind(o->w[o->n].format, wide == WIDE);
	o->x->wants[o->kind[o->n]] = 1;
	o->y[o->n++] = y;
}

void build_add_parts(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t parts,
	const struct product_part part[])
{
	struct op_product whole = { .x = o->x };
	size_t rows = 0, at = 0;

	for (size_t i = 0; i < parts; i++)
		rows += part[i].rows;
	build_add_product(b, &whole, name, wide, rows, part[0].y);
	for (size_t i = 0; i < parts && !b->failed; i++) {
		struct matrix *w = &o->w[o->n];

		*w = whole.w[0];
		if (w->data)
			w->data = (const char *)w->data + at * w->row_bytes;
		w->rows = part[i].rows;
		o->scale[o->n] = whole.scale[0];
		o->bias[o->n] = whole.bias[0] ? whole.bias[0] + at : NULL;
		o->kind[o->n] = whole.kind[0];
		o->y[o->n++] = part[i].y;
		at += part[i].rows;
	}
}

/* The tensors as op->weights: all experts' or heads' matrices of each as one matrix. */
static const struct matrix *all_matrices(struct builder *b, const struct op_product *o)
{
	struct matrix *w = build_allocate(b, o->n * sizeof *w);

	for (size_t i = 0; w && i < o->n; i++) {
		w[i] = o->w[i];
		w[i].rows *= n_matrices(o);
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
	op->weights = n_matrices(o) > 1 ? all_matrices(b, o) : ((const struct op_product *)op->bound)->w;
	op->n_weights = op->weights ? o->n : 0;
	op->scratch = b->plan->setup.kernels->product_scratch(o->x->k);
	if (!o->routing)
		build_output(op, 0, "", o->y[0], cols);
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
	if (o->packed)
		o->packed->rows = o->out;
	return build_append(b, &op_rows, name, o, sizeof *o);
}

struct packed *build_pack(struct builder *b, const char *name, struct buffer x, size_t n, enum slot slot)
{
	struct op_rows o = { .n = n, .in = x, .out = x };

	build_packing(b, name, &o, slot);
	return o.packed;
}

struct packed *build_low_rank(struct builder *b, struct packed *x, const char *name, size_t n)
{
	struct buffer low = buffer_with(b->plan->wide, n);

	build_product(b, x, name, NARROW, n, low);
	return build_pack(b, "low_rank_pack", low, n, SLOT_BRANCH);
}

void build_norm_rows(struct builder *b, const char *name, struct buffer x, size_t n)
{
	struct op_rows o = { .n = n, .in = x, .out = x, .norm = build_norm_of(b, name, n) };

	build_append(b, &op_rows, name, &o, sizeof o);
}

void build_copy(struct builder *b, const char *name, struct buffer from, struct buffer to, size_t n)
{
	struct op_copy o = { .copies = 1, .copy = { { .from = from, .to = to, .heads = 1, .n = n } } };

	build_append(b, &op_copy, name, &o, sizeof o);
}

void build_deinterleave(struct builder *b, const char *name, struct buffer from, size_t heads, size_t parts,
	const struct interleaved part[])
{
	struct op_copy o = { .copies = parts };
	size_t step = 0;

	for (size_t i = 0; i < parts; i++)
		step += part[i].n;
	for (size_t i = 0; i < parts; i++) {
		o.copy[i] = (struct copy){ .from = from, .to = part[i].to, .heads = heads, .n = part[i].n,
			.from_step = step, .to_step = part[i].n };
		from.at += part[i].n;
	}
	build_append(b, &op_copy, name, &o, sizeof o);
}
