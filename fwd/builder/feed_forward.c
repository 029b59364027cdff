/* The feed-forward parts of layers: gated or not, and mixtures of experts. */
#include "build.h"

#include <math.h>

/* The activation is made where the product's result lies; n elements are left. */
static struct packed *activate(struct builder *b, size_t n, enum row_function f, enum unary unary, struct buffer wide)
{
	struct op_rows o = { .n = n, .in = wide, .out = wide, .f = f, .unary = unary, .xielu = b->layer->xielu,
		.limit = b->layer->limit };

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
	struct op_rows sparse = { .n = n, .in = wide, .out = wide, .f = ROW_SPARSE, .most = b->layer->sparsity };

	if (build_has(b, gate)) {
		build_add_product(b, &o, gate, NARROW, n, wide);
		build_add_product(b, &o, up, NARROW, n, buffer_at(wide, n));
	} else
		build_add_product(b, &o, up, NARROW, 2 * n, wide);
	build_products(b, "ffn_gate_up", &o);
	if (b->layer->sparsity > 0)
		build_append(b, &op_rows, "ffn_sparse", &sparse, sizeof sparse);
	return activate(b, n, ROW_GLU, f, wide);
}

/* f(up · x), n elements. */
static struct packed *ungated(struct builder *b, struct packed *x, const char *up, size_t n, enum unary f)
{
	struct buffer wide = buffer_with(b->plan->wide, n);

	build_product(b, x, up, NARROW, n, wide);
	return activate(b, n, b->model->family->decoder.xielu ? ROW_XIELU : ROW_UNARY, f, wide);
}

struct packed *build_gated(struct builder *b, struct packed *x, enum unary f)
{
	return gated(b, x, "ffn_gate", "ffn_up", b->layer->n_ff, f);
}

struct packed *build_ungated(struct builder *b, struct packed *x, enum unary f)
{
	return ungated(b, x, "ffn_up", b->layer->n_ff, f);
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

/* Which experts each row goes to. Hunyuan 3's files leave ".bias" out of a name. */
static void route(struct builder *b)
{
	struct mixture *m = &b->plan->mixture;
	const struct experts *e = b->layer->experts;
	struct op_route o = { .routing = &m->routing, .experts = e, .logits = m->logits };

	o.bias = build_bias(b, "exp_probs_b", e->n);
	if (!o.bias && model_has(b->model, build_name(b, "exp_probs_b", "").s))
		o.bias = build_vector(b, "exp_probs_b", "", e->n);
	if (b->il < e->by_id && !b->failed)
		b->failed = model_integers(b->model, build_name(b, "ffn_gate_tid2eid", "weight").s, b->model->n_vocab,
			e->used, (int32_t)e->n, &o.by_id, b->w);
	build_append(b, &op_route, NULL, &o, sizeof o);
}

/* f(gate) · up of the routed experts or, where they have no gate, f(up). */
static struct packed *expert_activations(struct builder *b, struct packed *x, enum unary f)
{
	struct mixture *m = &b->plan->mixture;
	size_t n_ff = b->layer->experts->n_ff;
	struct op_product up = { .x = x, .routing = &m->routing };
	int ungated = b->model->family->decoder.ungated;

	if (ungated)
		build_add_product(b, &up, "ffn_up_exps", NARROW, n_ff, m->wide);
	else if (build_has(b, "ffn_gate_exps")) {
		build_add_product(b, &up, "ffn_gate_exps", NARROW, n_ff, m->wide);
		build_add_product(b, &up, "ffn_up_exps", NARROW, n_ff, buffer_at(m->wide, n_ff));
	} else
		build_add_product(b, &up, "ffn_gate_up_exps", NARROW, 2 * n_ff, m->wide);
	build_products(b, "ffn_gate_up_exps", &up);
	return expert_rows(b, "ffn_act", (struct op_expert_rows){ .routing = &m->routing, .n = n_ff, .in = m->wide,
		.gated = !ungated, .unary = f, .limit = b->layer->limit_experts });
}

/* The shared expert's result, into its buffer. */
static void shared_expert(struct builder *b, struct packed *x, enum unary f)
{
	size_t n = b->layer->experts->n_ff_shared;

	if (b->model->family->decoder.ungated)
		x = ungated(b, x, "ffn_up_shexp", n, f);
	else
		x = gated(b, x, "ffn_gate_shexp", "ffn_up_shexp", n, f);
	build_product(b, x, "ffn_down_shexp", NARROW, b->model->n_embd, b->plan->mixture.shared);
}

/* What the experts made of rows in latent space, back in that of the stream, plus the shared expert's result. */
static void leave_latent(struct builder *b, struct packed *x, enum unary f, struct buffer low, struct buffer to)
{
	struct op_rows sum = { .n = b->model->n_embd, .x = to, .branch = b->plan->mixture.shared, .in = to, .out = to,
		.scale = 1 };

	struct op_rows back = { .n = low.stride, .in = low, .out = low };
	int routed = build_has(b, "ffn_routed_up");

	if (build_has(b, "ffn_routed_norm"))
		back.norm = build_norm_of(b, "ffn_routed_norm", back.n);
	build_packing(b, "ffn_latent", &back, SLOT_BRANCH);
	build_product(b, back.packed, routed ? "ffn_routed_up" : "ffn_latent_up", NARROW, sum.n, to);
	if (!b->layer->experts->n_ff_shared)
		return;
	shared_expert(b, x, f);
	build_append(b, &op_rows, "ffn_sum", &sum, sizeof sum);
}

/* Into a buffer of rows. */
static void experts_into(struct builder *b, struct packed *x, enum unary f, struct buffer to)
{
	struct mixture *m = &b->plan->mixture;
	const struct experts *e = b->layer->experts;
	size_t n = e->n_latent ? e->n_latent : b->model->n_embd;
	struct buffer in = buffer_with(e->n_latent ? b->plan->wide : b->plan->h, n);
	struct op_product down = { .routing = &m->routing };
	struct op_combine sum = { .routing = &m->routing, .n = n, .in = m->out, .unweighted = e->weighted,
		.out = e->n_latent ? in : to };

	route(b);
	if (e->n_latent)
		build_product(b, x, build_has(b, "ffn_routed_down") ? "ffn_routed_down" : "ffn_latent_down", NARROW, n,
			in);
	down.x = expert_activations(b, expert_rows(b, "ffn_rows", (struct op_expert_rows){ .routing = &m->routing,
		.n = n, .in = in, .gathers = 1, .weighted = e->weighted }), f);
	build_add_product(b, &down, "ffn_down_exps", NARROW, n, m->out);
	build_products(b, "ffn_down_exps", &down);
	if (e->n_ff_shared && !e->n_latent) {
		if (build_has(b, "ffn_gate_inp_shexp")) {
			build_product(b, x, "ffn_gate_inp_shexp", NARROW, 1, m->gate);
			sum.gate = m->gate;
		}
		shared_expert(b, x, f);
		sum.shared = m->shared;
		sum.scale_shared = e->scale_shared;
	}
	build_leaves(build_append(b, &op_combine, "ffn_experts", &sum, sizeof sum), 0, "", sum.out, n);
	if (e->n_latent)
		leave_latent(b, x, f, in, to);
}

void build_experts(struct builder *b, struct packed *x, enum unary f)
{
	build_add_branch(b);
	if (!b->model->family->decoder.routes_input)
		build_router(b, x);
	experts_into(b, x, f, b->plan->branch);
	b->pending = 1;
}

void build_experts_aside(struct builder *b, struct packed *x, enum unary f)
{
	build_router(b, x);
	experts_into(b, x, f, b->plan->mixture.shared);
}

void build_add_aside(struct builder *b, float scale)
{
	struct buffer branch = b->plan->branch;
	struct op_rows sum = { .n = b->model->n_embd, .x = branch, .branch = b->plan->mixture.shared, .in = branch,
		.out = branch, .scale = 1, .x_scale = scale };

	build_append(b, &op_rows, "ffn_sum", &sum, sizeof sum);
}

/* Rows normed where they are. */
static void norm_rows(struct builder *b, const char *name, struct buffer x)
{
	struct op_rows o = { .n = b->model->n_embd, .in = x, .out = x };

	o.norm = build_norm_of(b, name, o.n);
	build_append(b, &op_rows, name, &o, sizeof o);
}

/* The router reads norm(x) / √n_embd, times its own weights. */
static struct packed *router_rows(struct builder *b)
{
	size_t n = b->model->n_embd;

	return build_scaled_norm(b, "ffn_router_norm", build_vector(b, "ffn_gate_inp", "scale", n),
		sqrtf((float)n));
}

void build_beside_experts(struct builder *b, enum unary f)
{
	struct buffer experts = b->plan->mixture.shared, branch = b->plan->branch;

	build_branch(b, build_gated(b, build_norm(b, "ffn_norm"), f), "ffn_down");
	norm_rows(b, "post_ffw_norm_1", branch);
	build_router(b, router_rows(b));
	experts_into(b, build_norm_beside(b, "pre_ffw_norm_2"), f, experts);
	norm_rows(b, "post_ffw_norm_2", experts);
	build_add_aside(b, 1);
}

void build_per_layer(struct builder *b, struct packed *x)
{
	size_t n = b->model->n_per_layer;
	struct buffer wide = buffer_with(b->plan->wide, 2 * n);

	build_product(b, x, "inp_gate", NARROW, n, wide);
	build_copy(b, NULL, buffer_at(b->plan->per_layer, b->il * n), buffer_at(wide, n), n);
	build_branch(b, activate(b, n, ROW_GLU, UNARY_GELU, wide), "proj");
	build_post_norm(b, "post_norm");
}
