/* Products: their x is packed once for all that read it; matrices, scales, biases and adapters are found by name. */
#include "build.h"

#include <string.h>

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
	build_matrices(b, name, n_matrices(o), rows, o->x->k, &o->w[o->n]);
	o->scale[o->n] = build_scales(b, name, o->routing ? o->routing->n : 1);
	o->bias[o->n] = build_bias(b, name, n_matrices(o), rows);
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
