/* Feed-forward parts: gated, ungated, and mixtures of experts. */
#include "build.h"

#include <math.h>

/* Applies the activation in place, in `wide`, and packs the n elements that result. `up` is where the second factor of
 * a GLU is, if it does not follow the first. */
static struct packed *activate_by(struct builder *b, size_t n, enum row_function f, enum unary unary,
	struct buffer wide, struct buffer up)
{
	struct op_rows o = { .n = n, .in = wide, .out = wide, .up = up, .f = f, .unary = unary,
		.xielu = b->layer->xielu, .limit = b->layer->limit };

	if (b->model->family->decoder.sub_norms)
		o.norm = build_norm_of(b, "ffn_sub_norm", n);
	build_output(build_packing(b, "ffn_act", &o, SLOT_BRANCH), 0, "", o.out, o.n);
	return o.packed;
}

static struct packed *activate(struct builder *b, size_t n, enum row_function f, enum unary unary, struct buffer wide)
{
	return activate_by(b, n, f, unary, wide, (struct buffer){ .at = NULL });
}

/* f(gate · x) · (up · x), n elements, packed. If there is no tensor `gate`, `up` has the rows of both. */
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
	build_deltas(b, x, (struct product_rows[]){ { gate, n }, { up, n } }, 2, wide);
	if (b->layer->sparsity > 0)
		build_append(b, &op_rows, "ffn_sparse", &sparse, sizeof sparse);
	return activate(b, n, ROW_GLU, f, wide);
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
	row.at = build_allocate(b, n * sizeof *row.at);
	for (size_t i = 0; divisor && row.at && i < n; i++)
		row.at[i] = 1 / divisor[i];
	return row;
}

/* f(up · x), n elements, packed. */
static struct packed *ungated(struct builder *b, struct packed *x, const char *up, size_t n, enum unary f)
{
	struct buffer wide = buffer_with(b->plan->wide, n), factors;

	build_product(b, x, up, NARROW, n, wide);
	if (b->model->family->decoder.divides && (factors = activation_factors(b, n)).at)
		return activate_by(b, n, ROW_GLU, f, wide, factors);
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

struct packed *build_expert_rows(struct builder *b, const char *name, struct op_expert_rows o)
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

/* Chooses the experts of each row. Hunyuan 3's files lack the suffix ".bias". */
static void route(struct builder *b, struct routing *r)
{
	const struct experts *e = b->layer->experts;
	struct op_route o = { .routing = r, .experts = e, .logits = b->plan->mixture.logits };

	o.bias = build_bias(b, "exp_probs_b", e->n);
	if (!o.bias && model_has(b->model, build_name(b, "exp_probs_b", "").s))
		o.bias = build_vector(b, "exp_probs_b", "", e->n);
	if (b->il < e->by_id && !b->failed)
		b->failed = model_integers(b->model, build_name(b, "ffn_gate_tid2eid", "weight").s, b->model->n_vocab,
			o.routing->used, (int32_t)e->n, &o.by_id, b->w);
	build_append(b, &op_route, NULL, &o, sizeof o);
}

/* The routed experts or the adjugates, and their tensors. */
struct expert_part {
	struct routing *routing;
	size_t n_ff;
	int weighted;
	const char *gate, *up, *gate_up, *down;
};

/* f(gate) · up of the experts or, if they have no gate, f(up); packed for their second product. */
static struct packed *expert_activations(struct builder *b, const struct expert_part *e, struct packed *x, enum unary f)
{
	size_t n_ff = e->n_ff;
	struct buffer wide = b->plan->mixture.wide;
	struct op_product up = { .x = x, .routing = e->routing };
	int ungated = b->model->family->decoder.ungated;

	if (ungated)
		build_add_product(b, &up, e->up, NARROW, n_ff, wide);
	else if (build_has(b, e->gate)) {
		build_add_product(b, &up, e->gate, NARROW, n_ff, wide);
		build_add_product(b, &up, e->up, NARROW, n_ff, buffer_at(wide, n_ff));
	} else
		build_add_product(b, &up, e->gate_up, NARROW, 2 * n_ff, wide);
	build_products(b, e->gate_up, &up);
	return build_expert_rows(b, "ffn_act", (struct op_expert_rows){ .routing = e->routing, .n = n_ff, .in = wide,
		.gated = !ungated, .unary = f, .limit = b->layer->limit_experts });
}

/* Applies the experts to the rows of `in` routed to them. The results, n elements each, are in mixture.out by place
 * (mixture.h). */
static void run_experts(struct builder *b, const struct expert_part *e, struct buffer in, size_t n, enum unary f)
{
	struct op_product down = { .routing = e->routing };
	struct op_expert_rows rows = { .routing = e->routing, .n = n, .in = in, .gathers = 1,
		.weighted = e->weighted };

	down.x = expert_activations(b, e, build_expert_rows(b, "ffn_rows", rows), f);
	build_add_product(b, &down, e->down, NARROW, n, b->plan->mixture.out);
	build_products(b, e->down, &down);
}

/* The shared expert's result, into mixture.shared. */
static void shared_expert(struct builder *b, struct packed *x, enum unary f)
{
	size_t n = b->layer->expert_sizes.n_ff_shared;

	if (b->model->family->decoder.ungated)
		x = ungated(b, x, "ffn_up_shexp", n, f);
	else
		x = gated(b, x, "ffn_gate_shexp", "ffn_up_shexp", n, f);
	build_product(b, x, "ffn_down_shexp", NARROW, b->model->n_embd, b->plan->mixture.shared);
}

/* Multiplies the experts' result `low` by the matrix that leads out of the latent space, and adds the shared expert's
 * result. */
static void from_latent(struct builder *b, struct packed *x, enum unary f, struct buffer low, struct buffer to)
{
	struct op_rows sum = { .n = b->model->n_embd, .x = to, .branch = b->plan->mixture.shared, .in = to, .out = to,
		.scale = 1 };

	struct op_rows back = { .n = low.stride, .in = low, .out = low };
	int routed = build_has(b, "ffn_routed_up");

	if (build_has(b, "ffn_routed_norm"))
		back.norm = build_norm_of(b, "ffn_routed_norm", back.n);
	build_packing(b, "ffn_latent", &back, SLOT_BRANCH);
	build_product(b, back.packed, routed ? "ffn_routed_up" : "ffn_latent_up", NARROW, sum.n, to);
	if (!b->layer->expert_sizes.n_ff_shared)
		return;
	shared_expert(b, x, f);
	build_append(b, &op_rows, "ffn_sum", &sum, sizeof sum);
}

/* The layer's routing: all layers share its memory, but the number of experts per row is the layer's own. */
static struct routing *layer_routing(struct builder *b)
{
	struct routing *r = build_allocate(b, sizeof *r);

	if (!r)
		return &b->plan->mixture.routing;
	*r = b->plan->mixture.routing;
	r->used = b->layer->expert_sizes.used;
	return r;
}

/* The mixture's result, [n_embd], into `to`. */
static void experts_into(struct builder *b, struct packed *x, enum unary f, struct buffer to)
{
	struct mixture *m = &b->plan->mixture;
	const struct experts *e = b->layer->experts;
	const struct expert_sizes *z = &b->layer->expert_sizes;
	struct routing *routing = layer_routing(b);
	size_t n = e->n_latent ? e->n_latent : b->model->n_embd;
	struct buffer in = buffer_with(e->n_latent ? b->plan->wide : b->plan->h, n);
	struct expert_part part = { routing, z->n_ff, e->weighted, "ffn_gate_exps", "ffn_up_exps", "ffn_gate_up_exps",
		"ffn_down_exps" };
	struct op_combine sum = { .routing = routing, .n = n, .in = m->out, .unweighted = e->weighted,
		.out = e->n_latent ? in : to };

	route(b, routing);
	if (e->n_latent)
		build_product(b, x, build_has(b, "ffn_routed_down") ? "ffn_routed_down" : "ffn_latent_down", NARROW, n,
			in);
	run_experts(b, &part, in, n, f);
	if (z->n_ff_shared && !e->n_latent) {
		if (build_has(b, "ffn_gate_inp_shexp")) {
			build_product(b, x, "ffn_gate_inp_shexp", NARROW, 1, m->gate);
			sum.gate = m->gate;
		}
		shared_expert(b, x, f);
		sum.shared = m->shared;
		sum.scale_shared = e->scale_shared;
	}
	build_output(build_append(b, &op_combine, "ffn_experts", &sum, sizeof sum), 0, "", sum.out, n);
	if (e->n_latent)
		from_latent(b, x, f, in, to);
}

/* to = x + the result of the adjugate experts for x. */
static void adjugates_into(struct builder *b, struct buffer x, enum unary f, struct buffer to)
{
	struct mixture *m = &b->plan->mixture;
	const struct experts *e = &b->model->adjugates;
	struct expert_part part = { &m->adjugates, e->most.n_ff, e->weighted, "ffn_gate_chexps", "ffn_up_chexps",
		"ffn_gate_up_chexps", "ffn_down_chexps" };
	struct op_route_adjugates route = { .routing = &m->adjugates, .adjugates = e, .scores = m->logits };
	struct op_combine sum = { .routing = &m->adjugates, .n = b->model->n_embd, .in = m->out, .out = to,
		.shared = x, .scale_shared = 1 };

	build_append(b, &op_route_adjugates, NULL, &route, sizeof route);
	run_experts(b, &part, x, sum.n, f);
	build_output(build_append(b, &op_combine, "ffn_adjugates", &sum, sizeof sum), 0, "", to, sum.n);
}

void build_experts(struct builder *b, struct packed *x, enum unary f)
{
	struct buffer made = b->model->adjugates.n ? b->plan->mixture.shared : b->plan->branch;

	build_add_branch(b);
	if (!b->model->family->decoder.routes_input)
		build_router(b, x);
	experts_into(b, x, f, made);
	if (b->model->adjugates.n)
		adjugates_into(b, made, f, b->plan->branch);
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

/* The input of Gemma 4's router: norm(x) / √n_embd, times weights of its own. */
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
	build_norm_rows(b, "post_ffw_norm_1", branch, b->model->n_embd);
	build_router(b, router_rows(b));
	experts_into(b, build_norm_beside(b, "pre_ffw_norm_2"), f, experts);
	build_norm_rows(b, "post_ffw_norm_2", experts, b->model->n_embd);
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
