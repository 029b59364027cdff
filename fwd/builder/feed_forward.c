/* Feed-forward parts: gated and ungated. */
#include "build.h"

/* Applies the activation o.f; the result, n elements, takes the place of the first ones of x. */
static struct value *activate(struct builder *b, struct op_rows o, struct value *x, size_t n)
{
	o.xielu = b->layer->xielu;
	o.limit = b->layer->limit;
	if (b->model->family->decoder.sub_norms)
		o.norm = build_norm_of(b, "ffn_sub_norm", n);
	return build_rows_shown(b, "ffn_act", o, x, build_part(b, x, 0, n));
}

struct value *build_gated_by(struct builder *b, struct value *x, const char *gate, const char *up, size_t n,
	enum unary f)
{
	struct op_rows sparse = { .f = ROW_SPARSE, .most = b->layer->sparsity };
	struct value *both = build_value(b, 2 * n), *g = build_part(b, both, 0, n), *u = build_part(b, both, n, n);
	struct op_product o = build_products_of(b, x);

	if (build_has(b, gate)) {
		build_add_product(b, &o, gate, NARROW, g);
		build_add_product(b, &o, up, NARROW, u);
	} else
		build_add_product(b, &o, up, NARROW, both);
	build_products(b, "ffn_gate_up", &o);
	g = build_columns(b, both, 0, n);
	u = build_columns(b, both, n, n);
	build_deltas(b, x, (struct product_result[]){ { gate, &g }, { up, &u } }, 2);
	if (b->layer->sparsity > 0)
		build_rows(b, "ffn_sparse", sparse, g, build_part(b, g, 0, n));
	return activate(b, (struct op_rows){ .f = ROW_GLU, .unary = f }, build_columns(b, both, 0, 2 * n), n);
}

/* The factors of activations that the file divides them by (MPT, quantised with AWQ): the same for all rows. `at` is
 * NULL if it has none. */
static struct buffer activation_factors(struct builder *b, size_t n)
{
	struct buffer row = { .at = NULL };
	const float *divisor;

	if (!model_has(b->model, build_name(b, "ffn.act", "scales").s))
		return row;
	divisor = build_vector(b, "ffn.act", "scales", n);
	row = build_constant(b, n, 0);
	for (size_t i = 0; divisor && row.at && i < n; i++)
		row.at[i] = 1 / divisor[i];
	return row;
}

struct value *build_ungated_by(struct builder *b, struct value *x, const char *up, size_t n, enum unary f)
{
	struct op_rows o = { .f = b->model->family->decoder.xielu ? ROW_XIELU : ROW_UNARY, .unary = f };

	x = build_product(b, x, up, NARROW, n);
	if (b->model->family->decoder.divides && (o.up = activation_factors(b, n)).at)
		o.f = ROW_GLU;
	return activate(b, o, x, n);
}

struct value *build_gated(struct builder *b, struct value *x, enum unary f)
{
	return build_gated_by(b, x, "ffn_gate", "ffn_up", b->layer->n_ff, f);
}

struct value *build_ungated(struct builder *b, struct value *x, enum unary f)
{
	return build_ungated_by(b, x, "ffn_up", b->layer->n_ff, f);
}
