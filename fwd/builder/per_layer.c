/* Inputs of layers besides the residual stream: see per_layer.h. */
#include "per_layer.h"

#include <math.h>

struct per_layer *per_layer_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct per_layer));
}

/* ---- the op: a work item is a row ---- */

/* Inputs of all layers, computed from a row's id and its embedding. p, [layers][n] per row, becomes
 * for each layer (scale · embedding of the id + norm(p / root)) / √2. */
struct op_per_layer {
	struct matrix ids;              /* rows of [layers][n] */
	size_t layers, n;
	float scale, root;
	struct norm norm;               /* of n elements */
	struct buffer p, spare;
};

static void item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_per_layer *o = op->bound;
	const struct kernels *k = s->k;
	float *p = buffer_row(&o->p, row), *of_id = buffer_row(&o->spare, row);
	size_t all = o->layers * o->n;

	format_dequantise(o->ids.format, (const unsigned char *)o->ids.data + (size_t)s->ids[row] * o->ids.row_bytes,
		of_id, all);
	k->scale(p, p, 1 / o->root, all);
	for (size_t at = 0; at < all; at += o->n)
		k->norm(&o->norm, p + at, p + at, o->n);
	k->add_scaled(p, of_id, o->scale, all);
	k->scale(p, p, 0x1.6a09e6p-1f, all);
}

static void work(const struct op *op, const struct step *s, struct work *w)
{
	const struct op_per_layer *o = op->bound;

	w->bytes += (double)s->n * (double)o->ids.row_bytes;
}

static void uses(void *bound, struct uses *u)
{
	struct op_per_layer *o = bound;

	u->rows(u, &o->p, o->layers * o->n, USE_CHANGE);
	u->rows(u, &o->spare, o->layers * o->n, USE_MAKE);
}

static const struct op_kind op_per_layer = { .name = "per_layer", .uses = uses, .all_rows = 1, .items = op_each_row,
	.item = item, .work = work };

/* ---- building ---- */

void build_per_layer_inputs(struct builder *b)
{
	struct model *m = b->model;
	size_t n = per_layer_of(m)->n, all = n * m->n_layer;
	struct op_per_layer o = { .layers = m->n_layer, .n = n, .scale = sqrtf((float)n),
		.root = sqrtf((float)m->n_embd) };

	if (!n)
		return;
	b->per_layer = build_product(b, b->x, "per_layer_model_proj", NARROW, all);
	o.p = rows_of(b->per_layer);
	o.spare = rows_of(build_value(b, all));
	build_matrices(b, "per_layer_token_embd", 1, m->n_vocab, all, &o.ids);
	o.norm = build_norm_of(b, "per_layer_proj_norm", n);
	build_append(b, &op_per_layer, NULL, &o, sizeof o);
}

struct value *build_per_layer(struct builder *b, struct value *x)
{
	size_t n = per_layer_of(b->model)->n;
	struct op_rows o = { .f = ROW_GLU, .unary = UNARY_GELU,
		.up = rows_of(build_part(b, b->per_layer, b->il * n, n)) };

	x = build_product(b, x, "inp_gate", NARROW, n);
	return build_branch(b, build_rows_shown(b, "ffn_act", o, x, build_part(b, x, 0, n)), "proj");
}
