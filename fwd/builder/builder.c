/* The functions that all of the builder uses: ops are appended, tensors found and checked. */
#include "build.h"
#include "fwd/model/layers.h"
#include "lib/base/hash.h"

#include <stdio.h>
#include <string.h>


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
	return graph_memory(&b->graph, size);
}

/* ---- tensors ---- */

const char *build_suffix(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "").s) ? "" : "weight";
}

static void matrices(struct builder *b, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out)
{
	const char *in_file = build_suffix(b, name);

	if (!build_failed(b) && model_matrices(b->model, build_name(b, name, in_file).s, n, rows, cols, out, b->w) < 0)
		b->graph.failed = -1;
}

void build_matrix(struct builder *b, const char *name, size_t rows, size_t cols, struct matrix *out)
{
	matrices(b, name, 1, rows, cols, out);
}

const float *build_table(struct builder *b, const char *name, const char *suffix, size_t rows, size_t cols)
{
	const float *v = NULL;

	if (!build_failed(b) && model_table(b->model, build_name(b, name, suffix).s, rows, cols, &v, b->w) < 0)
		b->graph.failed = -1;
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

struct buffer build_constant(struct builder *b, size_t n, float x)
{
	float *row = build_allocate(b, n * sizeof *row);

	for (size_t i = 0; row && i < n; i++)
		row[i] = x;
	return (struct buffer){ .at = row };    /* stride 0: the same row for all */
}

float build_number(struct builder *b, const char *name)
{
	const float *x = build_vector(b, name, "weight", 1);

	return x ? *x : 0;
}

void build_unfold(struct builder *b, const char *name, size_t n, size_t rows, size_t cols)
{
	model_unfold(b->model, build_name(b, name, "weight").s, n, rows, cols);
}

int build_has(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "weight").s);
}

size_t build_n_rows(const struct builder *b, const char *name)
{
	const struct gguf_tensor *t = gguf_tensor(b->model->gguf, build_name(b, name, "weight").s);

	return t && t->dim[1] <= FF_MAX ? (size_t)t->dim[1] : 1;
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

/* ---- values and ops ---- */

struct value *build_value(struct builder *b, size_t n)
{
	return graph_value(&b->graph, n, 1);
}

struct value *build_part(struct builder *b, struct value *v, size_t column, size_t n)
{
	return graph_part(&b->graph, v, column, n);
}

struct value *build_columns(struct builder *b, struct value *v, size_t column, size_t n)
{
	return graph_columns(&b->graph, v->in, v->column + column, n);
}

struct value *build_streams(struct builder *b)
{
	return graph_columns(&b->graph, b->x->in, 0, b->x->in->width);
}

int build_append(struct builder *b, const struct op_kind *kind, const char *name, const void *bound, size_t size)
{
	return graph_append(&b->graph, (struct op){ .kind = kind, .name = name ? name : kind->name, .layer = b->il,
		.stack = b->stack }, bound, size);
}

struct op *build_op(struct builder *b, int op)
{
	return op == GRAPH_NO_OP ? NULL : &b->plan->op[op];
}

void build_output(struct builder *b, int op, size_t i, const char *suffix, struct value *v, size_t cols)
{
	if (op != GRAPH_NO_OP)
		b->plan->op[op].output[i] = (struct output){ .suffix = suffix, .from = rows_of(v), .cols = cols };
}

/* ---- state ---- */

int build_present(const struct builder *b)
{
	return !b->graph.now_absent;
}

/* Adds n to the size of a part of segments. Returns where the n begin; 0 in layers of other plans, which have no
 * states here. */
static size_t reserve(struct builder *b, size_t *size, size_t n, int kept)
{
	size_t at = *size;

	if (!build_present(b)) {
		b->elsewhere |= kept;
		return 0;
	}
	b->plan->layout = hash_data(&n, sizeof n, b->plan->layout);
	*size += n;
	return at;
}

size_t build_ring(struct builder *b, size_t bytes)
{
	return reserve(b, &b->plan->row_bytes, bytes, KEPT_RING);
}

size_t build_state(struct builder *b, size_t floats, int current)
{
	b->plan->keeps_current |= current;
	return reserve(b, &b->plan->state_floats, (floats + 15) / 16 * 16, KEPT_STATE);
}

struct kept_groups build_grouped(struct builder *b, size_t ratio, size_t n)
{
	struct grouped *g = build_present(b) ? b->plan->grouped : b->absent_groups;

	while (g->ratio && g->ratio != ratio)
		g++;
	g->ratio = ratio;
	return (struct kept_groups){ g, reserve(b, &g->floats, n, 0) };
}

/* ---- products ---- */

/* Number of matrices in a tensor: one for each expert, one for each head, or 1. */
static size_t n_matrices(const struct op_product *o)
{
	return o->routing ? o->routing->n : o->heads ? o->heads : 1;
}

/* The packed rows of x. They are packed by the op that makes x or, if that cannot do it or is set apart, by one of
 * their own. */
static struct packed *packed(struct builder *b, struct value *x)
{
	if (x->packer != GRAPH_NO_OP && x->packer < b->apart) {
		if (!x->repacked)
			x->repacked = build_part(b, x, 0, x->n);
		x = x->repacked;
	}
	if (x->packer == GRAPH_NO_OP)
		build_rows(b, "pack", (struct op_rows){ .n = x->n }, x, x);
	return graph_packed(&b->graph, x);
}

/* What adapters have for a product. Those of token_embd are for the embedding; heads have none. */
static const struct lora_pair *factors(struct builder *b, const struct op_product *o, const char *name, size_t rows)
{
	if (o->heads || !strcmp(name, "token_embd"))
		return NULL;
	return build_find_lora(b, build_name(b, name, build_suffix(b, name)).s, n_matrices(o), rows, o->x->k);
}

/* Adds a product of `rows` rows of each matrix. */
static void add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t rows,
	struct value *y)
{
	if (build_failed(b))
		return;
	matrices(b, name, n_matrices(o), rows, o->x->k, &o->w[o->n]);
	o->scale[o->n] = scale_of(b, name, o->routing ? o->routing->n : 1);
	o->bias[o->n] = biases(b, name, n_matrices(o), rows);
	o->lora[o->n] = factors(b, o, name, rows);
	if (build_failed(b))
		return;
	o->kind[o->n] = b->plan->setup.embeds ? ACTS_F32
		: b->plan->setup.kernels->acts_kind(o->w[o->n].format, wide == WIDE);
	o->x->wants[o->kind[o->n]] |= UINT64_C(1) << o->w[o->n].format->id;
	if (y)
		o->y[o->n] = rows_of(y);
	o->n++;
}

struct op_product build_products_of(struct builder *b, struct value *x)
{
	return (struct op_product){ .x = packed(b, x) };
}

void build_add_product(struct builder *b, struct op_product *o, const char *name, enum precision wide,
	struct value *y)
{
	add_product(b, o, name, wide, y->n, y);
}

void build_add_logits(struct builder *b, struct op_product *o, const char *name, size_t rows)
{
	add_product(b, o, name, NARROW, rows, NULL);
}

void build_add_parts(struct builder *b, struct op_product *o, const char *name, enum precision wide, size_t parts,
	struct value *const part[])
{
	struct op_product whole = { .x = o->x };
	size_t rows = 0, at = 0;

	for (size_t i = 0; i < parts; i++)
		rows += part[i]->n;
	add_product(b, &whole, name, wide, rows, NULL);
	for (size_t i = 0; i < parts && !build_failed(b); i++) {
		struct matrix *w = &o->w[o->n];

		*w = whole.w[0];
		if (w->data)
			w->data = (const char *)w->data + at * w->row_bytes;
		w->rows = part[i]->n;
		o->scale[o->n] = whole.scale[0];
		o->bias[o->n] = whole.bias[0] ? whole.bias[0] + at : NULL;
		o->kind[o->n] = whole.kind[0];
		o->lora[o->n] = whole.lora[0];
		o->lora_row[o->n] = at;
		o->y[o->n++] = rows_of(part[i]);
		at += part[i]->n;
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

/* The elements of the results that are side by side, from the first one on. */
static size_t adjacent(const struct op_product *o)
{
	const struct value *first = o->y[0].value, *y;
	size_t cols = o->w[0].rows;

	for (size_t i = 1; i < o->n; i++) {
		y = o->y[i].value;
		if (y->in == first->in && y->column == first->column + cols)
			cols += o->w[i].rows;
	}
	return cols;
}

int build_products(struct builder *b, const char *name, const struct op_product *o)
{
	int number = build_append(b, &op_product, name, o, sizeof *o);
	struct op *op = build_op(b, number);

	if (!op)
		return number;
	op->weights = n_matrices(o) > 1 ? all_matrices(b, o) : ((const struct op_product *)op->bound)->w;
	op->n_weights = op->weights ? o->n : 0;
	op->scratch = b->plan->setup.kernels->product_scratch(o->x->k);
	if (!o->routing)
		build_output(b, number, 0, "", o->y[0].value, adjacent(o));
	build_lora(b, o);
	return number;
}

void build_product_into(struct builder *b, struct value *x, const char *name, enum precision wide, struct value *y)
{
	struct op_product o = build_products_of(b, x);

	build_add_product(b, &o, name, wide, y);
	build_products(b, name, &o);
}

struct value *build_product(struct builder *b, struct value *x, const char *name, enum precision wide, size_t rows)
{
	struct value *y = build_value(b, rows);

	build_product_into(b, x, name, wide, y);
	return y;
}

void build_by_head(struct builder *b, const char *name, struct by_head h)
{
	struct op_head_rows rows = { .in = rows_of(h.x), .heads = h.heads, .n = h.n, .step = h.step,
		.packed = graph_packed_apart(&b->graph, h.n, h.heads, h.heads) };
	struct op_product p = { .x = rows.packed, .heads = h.heads, .step = h.to_step };

	build_append(b, &op_head_rows, "head_rows", &rows, sizeof rows);
	add_product(b, &p, name, WIDE, h.rows, h.y);
	build_products(b, name, &p);
}

/* ---- rows ---- */

static int append_rows(struct builder *b, const char *name, struct op_rows *o, struct value *in, struct value *out)
{
	o->n = out->n;
	o->in = rows_of(in);
	o->out = rows_of(out);
	return build_append(b, &op_rows, name, o, sizeof *o);
}

struct value *build_rows(struct builder *b, const char *name, struct op_rows o, struct value *in, struct value *out)
{
	append_rows(b, name, &o, in, out);
	return out;
}

struct value *build_rows_shown(struct builder *b, const char *name, struct op_rows o, struct value *in,
	struct value *out)
{
	build_output(b, append_rows(b, name, &o, in, out), 0, "", out, out->n);
	return out;
}

struct value *build_norm_rows(struct builder *b, const char *name, struct value *x)
{
	struct op_rows o = { .norm = build_norm_of(b, name, x->n) };

	return build_rows(b, name, o, x, build_part(b, x, 0, x->n));
}

struct value *build_low_rank(struct builder *b, struct value *x, const char *first, size_t rank, const char *second)
{
	return build_branch(b, build_product(b, x, first, NARROW, rank), second);
}

void build_copy_into(struct builder *b, const char *name, struct value *from, struct value *to)
{
	struct op_copy o = { .copies = 1, .copy = { { .from = rows_of(from), .to = rows_of(to), .heads = 1,
		.n = to->n } } };

	build_append(b, &op_copy, name, &o, sizeof o);
}

struct value *build_copy(struct builder *b, const char *name, struct value *x)
{
	struct value *y = build_value(b, x->n);

	build_copy_into(b, name, x, y);
	return y;
}

void build_deinterleave(struct builder *b, const char *name, struct value *from, size_t heads, size_t parts,
	struct value *const part[])
{
	struct op_copy o = { .copies = parts };
	size_t step = from->n / heads, at = 0;

	for (size_t i = 0; i < parts; at += part[i++]->n / heads)
		o.copy[i] = (struct copy){ .from = rows_of(build_part(b, from, at, from->n - at)),
			.to = rows_of(part[i]), .heads = heads, .n = part[i]->n / heads, .from_step = step,
			.to_step = part[i]->n / heads };
	build_append(b, &op_copy, name, &o, sizeof o);
}
