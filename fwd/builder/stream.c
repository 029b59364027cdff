/* Ops on the residual stream: norms of it, and additions to it. */
#include "build.h"

#include <string.h>

/* Makes o add the pending branch to x first. Returns whether there was one. */
static int add_pending(struct builder *b, struct op_rows *o)
{
	int pending = b->pending;

	if (pending && b->streams->update)
		b->streams->update(b);
	else if (pending) {
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

	if (add_pending(b, &o) && o.x.at)
		build_output(build_append(b, &op_rows, "add", &o, sizeof o), 0, "", o.out, o.n);
}

/* Appends a norm, after what else o does to each row. */
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
	build_output(op, 0, "", o.out, n);
	build_output(op, 1, ".in", o.in, n);
	return o.packed;
}

/* Norms that may have gates, and the gates' tensors. */
static const struct norm_gate {
	const char *norm, *down, *up;
} norm_gates[] = {
	{ "attn_norm", "attn_norm_gate_a", "attn_norm_gate_b" }, { "ffn_norm", "ffn_norm_gate_a", "ffn_norm_gate_b" },
};

static const struct norm_gate *gate_of(const struct builder *b, const char *norm)
{
	for (size_t i = 0; i < sizeof norm_gates / sizeof *norm_gates; i++)
		if (!strcmp(norm, norm_gates[i].norm) && build_has(b, norm_gates[i].down))
			return &norm_gates[i];
	return NULL;
}

/* Multiplies normed rows by gates: sigmoids of a low-rank product of the same rows. */
static struct packed *multiply_gates(struct builder *b, const struct norm_gate *g, struct packed *x)
{
	size_t n = b->model->n_embd, rank = b->model->norm_rank;
	struct buffer low = buffer_with(b->plan->wide, rank), gates = buffer_with(b->plan->wide, n);
	struct op_rows act = { .n = rank, .in = low, .out = low, .f = ROW_UNARY, .unary = UNARY_SILU };
	struct op_rows gated = { .n = n, .in = gates, .f = ROW_GLU, .unary = UNARY_SIGMOID };

	if (b->failed)
		return NULL;
	build_product(b, x, g->down, NARROW, rank, low);
	build_packing(b, "norm_gate_act", &act, SLOT_BRANCH);
	build_product(b, act.packed, g->up, NARROW, n, gates);
	gated.up = gated.out = x->rows;
	build_output(build_packing(b, "norm_gated", &gated, SLOT_NORMED), 0, "", gated.out, n);
	return gated.packed;
}

struct packed *build_norm(struct builder *b, const char *name)
{
	struct op_rows o = { .n = 0 };
	struct packed *x;

	if (b->streams->read && b->il != OP_NO_LAYER)
		return b->streams->read(b, name);
	add_pending(b, &o);
	x = append_norm(b, name, o);
	return b->model->norm_rank && gate_of(b, name) ? multiply_gates(b, gate_of(b, name), x) : x;
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

void build_take_normed(struct builder *b)
{
	size_t n = b->model->n_embd;

	build_copy(b, "take", buffer_with(b->plan->h, n), b->plan->x, n);
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

struct packed *build_norm_branch(struct builder *b, const char *name)
{
	struct op_rows o = { .n = b->model->n_embd, .in = b->plan->branch, .out = b->plan->branch };

	o.norm = build_norm_of(b, name, o.n);
	build_packing(b, name, &o, SLOT_NORMED);
	return o.packed;
}

void build_branch(struct builder *b, struct packed *x, const char *name)
{
	build_add_branch(b);
	build_product(b, x, name, NARROW, b->model->n_embd, b->plan->branch);
	build_deltas(b, x, &(struct product_rows){ name, b->model->n_embd }, 1, b->plan->branch);
	b->pending = 1;
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
	add_rows(b, name, (struct buffer){ .at = row });        /* stride 0: the same row for all */
}

void build_add_other(struct builder *b, int replace)
{
	size_t n = b->model->n_embd;
	struct buffer spare = buffer_with(b->plan->h, n);

	build_norm_stream(b, "stack_norm");
	if (replace)
		build_copy(b, "stack_kept", b->plan->x, spare, n);
	add_rows(b, "stack_sum", b->plan->carried);
	if (replace)
		build_copy(b, "stack_kept", spare, b->plan->carried, n);
}
