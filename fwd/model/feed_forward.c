/* The feed-forward parts of layers: gated or not, and mixtures of experts. */
#include "build.h"

#include <math.h>

/* The activation is made where the product's result lies; n elements are left. */
static struct packed *activate(struct builder *b, size_t n, enum row_function f, enum unary unary, struct buffer wide)
{
	struct op_rows o = { .n = n, .in = wide, .out = wide, .f = f, .unary = unary, .xielu = b->layer->xielu };

	if (b->model->family->decoder.sub_norms)
		o.norm = build_norm_of(b, "ffn_sub_norm", n);
	build_leaves(build_packing(b, "ffn_act", &o, SLOT_BRANCH), 0, "", o.out, o.n);
	return o.packed;
}

/* f(gate · x) · (up · x), n elements; up may hold the rows of both. */
static struct packed *gated(struct builder *b, struct packed *x, const char *gate, const char *up, size_t n,
	enum unary f)
{
	struct buffer wide = buffer_with(b->plan->wide, 2 * n);
	struct op_product o = { .x = x };

	if (build_has(b, gate)) {
		build_add_product(b, &o, gate, NARROW, n, wide);
		build_add_product(b, &o, up, NARROW, n, buffer_at(wide, n));
	} else
		build_add_product(b, &o, up, NARROW, 2 * n, wide);
	build_products(b, "ffn_gate_up", &o);
	return activate(b, n, ROW_GLU, f, wide);
}

struct packed *build_gated(struct builder *b, struct packed *x, enum unary f)
{
	return gated(b, x, "ffn_gate", "ffn_up", b->layer->n_ff, f);
}

struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f)
{
	struct buffer wide = buffer_with(b->plan->wide, b->layer->n_ff);

	build_product(b, x, "ffn_up", NARROW, b->layer->n_ff, wide);
	return activate(b, b->layer->n_ff, b->model->family->decoder.xielu ? ROW_XIELU : ROW_UNARY, f, wide);
}

/* ---- experts ---- */

/* Rows of n elements for the experts' products, one after the other by expert. */
static struct packed *expert_rows(struct builder *b, const char *name, struct op_expert_rows o)
{
	struct packed *packed = build_packed(b, o.n, SLOT_EXPERTS);
	struct op *op;

	o.packed = packed;
	if (!packed)
		return NULL;
	packed->experts = o.routing->n;
	packed->used = o.routing->used;
	for (int kind = 0; kind < ACTS_KINDS; kind++)
		packed->by_expert[kind] = build_allocate(b, packed->experts * sizeof *packed->by_expert[kind]);
	op = build_append(b, &op_expert_rows, name, &o, sizeof o);
	if (op && o.gathers)
		op->scratch = b->plan->setup.kernels->acts_columns * o.n * sizeof(float);
	return packed;
}

void build_router(struct builder *b, struct packed *x)
{
	build_product(b, x, "ffn_gate_inp", NARROW, b->layer->experts->n, b->plan->mixture.logits);
}

/* Which experts each row goes to. */
static void route(struct builder *b)
{
	struct mixture *m = &b->plan->mixture;
	const struct experts *e = b->layer->experts;
	struct op_route o = { .routing = &m->routing, .experts = e, .logits = m->logits };

	o.bias = build_bias(b, "exp_probs_b", e->n);
	build_append(b, &op_route, NULL, &o, sizeof o);
}

/* The shared expert's result and, where it is weighted, its gate. */
static void shared_expert(struct builder *b, struct packed *x, enum unary f, struct op_combine *to)
{
	struct mixture *m = &b->plan->mixture;

	if (build_has(b, "ffn_gate_inp_shexp")) {
		build_product(b, x, "ffn_gate_inp_shexp", NARROW, 1, m->gate);
		to->gate = m->gate;
	}
	x = gated(b, x, "ffn_gate_shexp", "ffn_up_shexp", b->layer->experts->n_ff_shared, f);
	build_product(b, x, "ffn_down_shexp", NARROW, b->model->n_embd, m->shared);
	to->shared = m->shared;
}

/* Into a buffer of rows. */
static void experts_into(struct builder *b, struct packed *x, enum unary f, struct buffer to)
{
	struct mixture *m = &b->plan->mixture;
	size_t n_embd = b->model->n_embd, n_ff = b->layer->experts->n_ff;
	struct op_product up = { .routing = &m->routing }, down = up;
	struct op_combine sum = { .routing = &m->routing, .n = n_embd, .in = m->out, .out = to };
	int weighted = sum.unweighted = b->layer->experts->weighted;

	route(b);
	up.x = expert_rows(b, "ffn_rows", (struct op_expert_rows){ .routing = &m->routing, .n = n_embd,
		.in = buffer_with(b->plan->h, n_embd), .gathers = 1, .weighted = weighted });
	if (build_has(b, "ffn_gate_exps")) {
		build_add_product(b, &up, "ffn_gate_exps", NARROW, n_ff, m->wide);
		build_add_product(b, &up, "ffn_up_exps", NARROW, n_ff, buffer_at(m->wide, n_ff));
	} else
		build_add_product(b, &up, "ffn_gate_up_exps", NARROW, 2 * n_ff, m->wide);
	build_products(b, "ffn_gate_up_exps", &up);
	down.x = expert_rows(b, "ffn_act", (struct op_expert_rows){ .routing = &m->routing, .n = n_ff, .in = m->wide,
		.gated = 1, .unary = f });
	build_add_product(b, &down, "ffn_down_exps", NARROW, n_embd, m->out);
	build_products(b, "ffn_down_exps", &down);
	if (b->layer->experts->n_ff_shared)
		shared_expert(b, x, f, &sum);
	build_leaves(build_append(b, &op_combine, "ffn_experts", &sum, sizeof sum), 0, "", sum.out, n_embd);
}

void build_experts(struct builder *b, struct packed *x, enum unary f)
{
	build_add_branch(b);
	if (!b->model->family->decoder.routes_input)
		build_router(b, x);
	experts_into(b, x, f, b->plan->branch);
	b->pending = 1;
}

/* Rows normed where they are. */
static void norm_rows(struct builder *b, const char *name, struct buffer x)
{
	struct op_rows o = { .n = b->model->n_embd, .in = x, .out = x };

	o.norm = build_norm_of(b, name, o.n);
	build_append(b, &op_rows, name, &o, sizeof o);
}

/* The router reads norm(x) / √n_embd, times weights of its own. */
static struct packed *router_rows(struct builder *b)
{
	size_t n = b->model->n_embd;
	struct op_rows o = { .n = n, .in = b->plan->x, .out = buffer_with(b->plan->h, n) };
	const float *weight = build_vector(b, "ffn_gate_inp", "scale", n);
	float *scaled = build_allocate(b, n * sizeof *scaled);

	for (size_t i = 0; scaled && i < n; i++)
		scaled[i] = weight[i] / sqrtf((float)n);
	o.norm = (struct norm){ .kind = NORM_RMS, .weight = scaled, .eps = b->model->eps };
	build_packing(b, "ffn_router_norm", &o, SLOT_NORMED);
	return o.packed;
}

void build_beside_experts(struct builder *b, enum unary f)
{
	struct buffer experts = b->plan->mixture.shared, branch = b->plan->branch;
	struct op_rows sum = { .n = b->model->n_embd, .x = branch, .branch = experts, .in = branch, .out = branch,
		.scale = 1 };

	build_branch(b, build_gated(b, build_norm(b, "ffn_norm"), f), "ffn_down");
	norm_rows(b, "post_ffw_norm_1", branch);
	build_router(b, router_rows(b));
	experts_into(b, build_norm_beside(b, "pre_ffw_norm_2"), f, experts);
	norm_rows(b, "post_ffw_norm_2", experts);
	build_append(b, &op_rows, "ffn_sum", &sum, sizeof sum);
}

void build_per_layer(struct builder *b)
{
	size_t n = b->model->n_per_layer;
	struct buffer wide = buffer_with(b->plan->wide, 2 * n);
	struct op_copy input = { .copies = 1, .copy = { { .from = buffer_at(b->plan->per_layer, b->il * n),
		.to = buffer_at(wide, n), .heads = 1, .n = n } } };

	build_product(b, build_norm(b, ""), "inp_gate", NARROW, n, wide);
	build_append(b, &op_copy, NULL, &input, sizeof input);
	build_branch(b, activate(b, n, ROW_GLU, UNARY_GELU, wide), "proj");
	build_post_norm(b, "post_norm");
}
