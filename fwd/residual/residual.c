/* The residual stream: norms of it, and additions to it. */
#include "norm_gates.h"

#include <string.h>

/* Returns x + y in place of x, where y is normed and scaled first. */
static struct value *add(struct builder *b, const char *name, struct op_rows o, struct value *x, struct value *y)
{
	struct value *sum = build_part(b, x, 0, x->n);

	o.x = rows_of(sum);
	o.branch = rows_of(y);
	return build_rows_shown(b, name, o, sum, sum);
}

struct value *build_sum(struct builder *b, const char *name, struct value *x, struct value *y, float scale)
{
	return add(b, name, (struct op_rows){ .scale = 1, .x_scale = scale }, x, y);
}

/* The last op, if all that it does is to make x as a sum, so that it can also do something with the sum. */
static struct op *sum_of(struct builder *b, const struct value *x)
{
	int last = (int)b->plan->n_ops - 1;
	struct op *op = last >= b->apart ? build_op(b, last) : NULL;
	const struct op_rows *o;

	if (!op || build_failed(b) || op->kind != &op_rows || x->packed)
		return NULL;
	o = op->bound;
	return o->x.value == x && o->out.value == x ? op : NULL;
}

/* Norms x, in the pass that makes it if that is possible. */
static struct value *norm(struct builder *b, struct value *x, const char *name, struct norm norm)
{
	struct value *out = build_value(b, x->n);
	struct op *op = sum_of(b, x);
	struct op_rows *sum = op ? op->bound : NULL;
	int number = (int)b->plan->n_ops - 1;

	if (sum) {
		sum->norm = norm;
		sum->out = rows_of(out);
		op->name = name;
		op->layer = b->il;
		x->packer = GRAPH_NO_OP;
		graph_again(&b->graph, number);
	} else {
		struct op_rows o = { .n = x->n, .norm = norm, .in = rows_of(x), .out = rows_of(out) };

		number = build_append(b, &op_rows, name, &o, sizeof o);
	}
	build_output(b, number, 0, "", out, x->n);
	build_output(b, number, 1, ".in", x, x->n);
	return out;
}

struct value *build_norm(struct builder *b, struct value *x, const char *name)
{
	return *name ? build_norm_gates(b, norm(b, x, name, build_norm_of(b, name, x->n)), name) : x;
}

struct value *build_read(struct builder *b, const char *name)
{
	return b->streams->read ? b->streams->read(b, name) : build_norm(b, b->x, name);
}

struct value *build_norm_of_model(struct builder *b, struct value *x, const char *name)
{
	size_t il = b->il;
	struct norm weights;

	b->il = OP_NO_LAYER;
	weights = build_norm_of(b, name, x->n);
	b->il = il;
	return norm(b, x, name, weights);
}

struct value *build_scaled_norm(struct builder *b, struct value *x, const char *name, const float *weight,
	float divisor)
{
	float *scaled = build_allocate(b, x->n * sizeof *scaled);
	struct op_rows o = { .norm = { .kind = NORM_RMS, .weight = scaled, .eps = b->model->eps } };

	for (size_t i = 0; scaled && weight && i < x->n; i++)
		scaled[i] = weight[i] / divisor;
	return build_rows(b, name, o, x, build_value(b, x->n));
}

void build_add(struct builder *b, struct value *branch, struct sum sum)
{
	struct op_rows o = { .scale = b->model->residual_scale * (sum.scale > 0 ? sum.scale : 1),
		.x_scale = sum.after };

	if (b->streams->add) {
		b->streams->add(b, branch);
		return;
	}
	if (sum.norm) {
		o.branch_norm = build_norm_of(b, sum.norm, branch->n);
		if (b->model->post_eps > 0)
			o.branch_norm.eps = b->model->post_eps;
	}
	b->x = add(b, "add", o, b->x, branch);
}

void build_add_scaled(struct builder *b, const char *name, struct value *y, float scale)
{
	b->x = add(b, name, (struct op_rows){ .scale = scale }, b->x, y);
}

static void add_vector(struct builder *b, const char *name, const float *x)
{
	struct op_rows o = { .branch = build_constant(b, b->x->n, 0), .scale = 1 };
	struct value *sum = build_part(b, b->x, 0, b->x->n);

	if (build_failed(b))
		return;
	memcpy(o.branch.at, x, sum->n * sizeof *x);
	o.x = rows_of(sum);
	b->x = build_rows(b, name, o, sum, sum);
}

void build_add_vector(struct builder *b, const float *x)
{
	add_vector(b, "control", x);
}

void build_add_constant(struct builder *b, const char *name)
{
	const float *vector = NULL;

	if (build_failed(b))
		return;
	if (model_vector(b->model, name, b->x->n, &vector, b->w) < 0)
		b->graph.failed = -1;
	else
		add_vector(b, name, vector);
}

struct value *build_branch(struct builder *b, struct value *x, const char *name)
{
	struct value *branch = build_product(b, x, name, NARROW, b->model->n_embd);

	build_deltas(b, x, (struct product_result[]){ { name, &branch } }, 1);
	return branch;
}
