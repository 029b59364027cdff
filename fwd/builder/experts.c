/* Mixtures of experts: routing, the experts' products, and what is beside them. */
#include "build.h"

#include <math.h>

static void *slots(struct builder *b, size_t used, size_t size)
{
	void *p = build_failed(b) ? NULL : plan_memory(b->plan, b->plan->setup.batch, used * size);

	if (!p)
		graph_fail(&b->graph);
	return p;
}

static struct routing *open_routing(struct builder *b, size_t n, size_t used)
{
	struct routing *r = build_allocate(b, sizeof *r);

	if (!r)
		return NULL;
	*r = (struct routing){ .n = n, .used = used, .expert = slots(b, used, sizeof *r->expert),
		.weight = slots(b, used, sizeof *r->weight), .place = slots(b, used, sizeof *r->place),
		.slot = slots(b, used, sizeof *r->slot), .first = build_allocate(b, (n + 1) * sizeof *r->first),
		.active = build_allocate(b, n * sizeof *r->active), .group = slots(b, used, sizeof *r->group) };
	return r;
}

struct routing *build_routing(struct builder *b, struct routing **shared, size_t n, size_t used)
{
	if (!*shared)
		*shared = open_routing(b, n, used);
	if (*shared)
		graph_routing(&b->graph, *shared);
	return *shared;
}

struct op_product build_expert_products(struct builder *b, const char *name, struct value *x, struct op_expert_rows o)
{
	int number;
	struct op *op;

	if (!o.routing)         /* after a failure */
		return (struct op_product){ .x = NULL };
	o.in = rows_of(x);
	o.packed = graph_packed_apart(&b->graph, o.n, o.routing->n, o.routing->used);
	number = build_append(b, &op_expert_rows, name, &o, sizeof o);
	op = build_op(b, number);
	if (op && o.gathers)
		op->scratch = b->plan->setup.kernels->acts_columns * o.n * sizeof(float);
	return (struct op_product){ .x = o.packed, .routing = o.routing };
}

struct value *build_router(struct builder *b, struct value *x)
{
	return build_product(b, x, "ffn_gate_inp", NARROW, b->layer->experts->n);
}

/* The layer's routing: all layers share its memory, but the number of experts per row is the layer's own. */
static struct routing *layer_routing(struct builder *b)
{
	const struct routing *shared = build_routing(b, &b->experts, b->model->experts.n, b->model->experts.most.used);
	struct routing *r = shared ? build_allocate(b, sizeof *r) : NULL;

	if (r) {
		*r = *shared;
		r->used = b->layer->expert_sizes.used;
	}
	return r;
}

/* Chooses the experts of each row. Hunyuan 3's files lack the suffix ".bias". */
static struct routing *route(struct builder *b, struct value *logits)
{
	const struct experts *e = b->layer->experts;
	struct op_route o = { .routing = layer_routing(b), .experts = e, .logits = rows_of(logits) };

	o.bias = build_bias(b, "exp_probs_b", 1, e->n);
	if (!o.bias && model_has(b->model, build_name(b, "exp_probs_b", "").s))
		o.bias = build_vector(b, "exp_probs_b", "", e->n);
	if (build_failed(b))
		return NULL;
	if (b->il < e->by_id)
		b->graph.failed = model_integers(b->model, build_name(b, "ffn_gate_tid2eid", "weight").s,
			b->model->n_vocab, o.routing->used, (int32_t)e->n, &o.by_id, b->w);
	build_append(b, &op_route, NULL, &o, sizeof o);
	return build_failed(b) ? NULL : o.routing;
}

/* The routed experts or the adjugates, and their tensors. */
struct expert_part {
	struct routing *routing;
	size_t n_ff;
	int weighted;
	const char *gate, *up, *gate_up, *down;
};

/* Returns the experts' results for the rows of x that are routed to them, n elements each, by place (routing.h). */
static struct value *run_experts(struct builder *b, const struct expert_part *e, struct value *x, size_t n,
	enum unary f)
{
	int ungated = b->model->family->decoder.ungated;
	size_t wide = ungated ? e->n_ff : 2 * e->n_ff, used = e->routing ? e->routing->used : 0;
	struct value *h = graph_value(&b->graph, wide, used), *out = graph_value(&b->graph, n, used);
	struct op_product o = build_expert_products(b, "ffn_rows", x, (struct op_expert_rows){ .routing = e->routing,
		.n = x->n, .gathers = 1, .weighted = e->weighted });

	if (ungated)
		build_add_product(b, &o, e->up, NARROW, h);
	else if (build_has(b, e->gate)) {
		build_add_product(b, &o, e->gate, NARROW, build_part(b, h, 0, e->n_ff));
		build_add_product(b, &o, e->up, NARROW, build_part(b, h, e->n_ff, e->n_ff));
	} else
		build_add_product(b, &o, e->gate_up, NARROW, h);
	build_products(b, e->gate_up, &o);
	h = build_columns(b, h, 0, wide);
	o = build_expert_products(b, "ffn_act", h, (struct op_expert_rows){ .routing = e->routing, .n = e->n_ff,
		.gated = !ungated, .unary = f, .limit = b->layer->limit_experts });
	build_add_product(b, &o, e->down, NARROW, out);
	build_products(b, e->down, &o);
	return out;
}

/* The shared expert's result. */
static struct value *shared_expert(struct builder *b, struct value *x, enum unary f)
{
	size_t n = b->layer->expert_sizes.n_ff_shared;

	x = b->model->family->decoder.ungated ? build_ungated_by(b, x, "ffn_up_shexp", n, f)
		: build_gated_by(b, x, "ffn_gate_shexp", "ffn_up_shexp", n, f);
	return build_product(b, x, "ffn_down_shexp", NARROW, b->model->n_embd);
}

/* Sums up the experts' results for each row, and what o adds to them. */
static struct value *combine(struct builder *b, const char *name, struct op_combine o, struct value *in)
{
	struct value *out = build_value(b, in->n);

	o.n = in->n;
	o.in = rows_of(in);
	o.out = rows_of(out);
	build_output(b, build_append(b, &op_combine, name, &o, sizeof o), 0, "", out, out->n);
	return out;
}

/* Multiplies the experts' result `low` by the matrix that leads out of the latent space, and adds the shared expert's
 * result. */
static struct value *from_latent(struct builder *b, struct value *x, enum unary f, struct value *low)
{
	int routed = build_has(b, "ffn_routed_up");
	struct value *out;

	if (build_has(b, "ffn_routed_norm"))
		low = build_norm_rows(b, "ffn_routed_norm", low);
	out = build_product(b, low, routed ? "ffn_routed_up" : "ffn_latent_up", NARROW, b->model->n_embd);
	if (!b->layer->expert_sizes.n_ff_shared)
		return out;
	return build_sum(b, "ffn_sum", out, shared_expert(b, x, f), 0);
}

/* The mixture's result for x. */
static struct value *mixture(struct builder *b, struct value *x, struct value *logits, enum unary f)
{
	const struct experts *e = b->layer->experts;
	const struct expert_sizes *z = &b->layer->expert_sizes;
	struct expert_part part = { route(b, logits), z->n_ff, e->weighted, "ffn_gate_exps", "ffn_up_exps",
		"ffn_gate_up_exps", "ffn_down_exps" };
	struct op_combine sum = { .routing = part.routing, .unweighted = e->weighted };
	struct value *in = x, *made;

	if (e->n_latent)
		in = build_product(b, x, build_has(b, "ffn_routed_down") ? "ffn_routed_down" : "ffn_latent_down",
			NARROW, e->n_latent);
	made = run_experts(b, &part, in, in->n, f);
	if (z->n_ff_shared && !e->n_latent) {
		if (build_has(b, "ffn_gate_inp_shexp"))
			sum.gate = rows_of(build_product(b, x, "ffn_gate_inp_shexp", NARROW, 1));
		sum.shared = rows_of(shared_expert(b, x, f));
		sum.scale_shared = e->scale_shared;
	}
	made = combine(b, "ffn_experts", sum, made);
	return e->n_latent ? from_latent(b, x, f, made) : made;
}

/* x + the result of the adjugate experts for x, which are chosen by the scores of the experts. */
static struct value *adjugates(struct builder *b, struct value *x, struct value *scores, enum unary f)
{
	const struct experts *e = &b->model->adjugates;
	struct op_route_adjugates o = { .adjugates = e, .scores = rows_of(scores),
		.routing = build_routing(b, &b->adjugates, e->n, e->most.used) };
	struct expert_part part = { o.routing, e->most.n_ff, e->weighted, "ffn_gate_chexps", "ffn_up_chexps",
		"ffn_gate_up_chexps", "ffn_down_chexps" };
	struct op_combine sum = { .routing = o.routing, .shared = rows_of(x), .scale_shared = 1 };

	build_append(b, &op_route_adjugates, NULL, &o, sizeof o);
	return combine(b, "ffn_adjugates", sum, run_experts(b, &part, x, x->n, f));
}

struct value *build_experts(struct builder *b, struct value *x, struct value *logits, enum unary f)
{
	struct value *made;

	logits = logits ? logits : build_router(b, x);
	made = mixture(b, x, logits, f);
	return b->model->adjugates.n ? adjugates(b, made, logits, f) : made;
}

/* The input of Gemma 4's router: norm(x) / √n_embd, times weights of its own. */
static struct value *router_rows(struct builder *b)
{
	size_t n = b->model->n_embd;

	return build_scaled_norm(b, b->x, "ffn_router_norm", build_vector(b, "ffn_gate_inp", "scale", n),
		sqrtf((float)n));
}

struct value *build_beside_experts(struct builder *b, enum unary f)
{
	struct value *dense = build_branch(b, build_gated(b, build_norm(b, b->x, "ffn_norm"), f), "ffn_down"), *made;

	dense = build_norm_rows(b, "post_ffw_norm_1", dense);
	made = build_router(b, router_rows(b));
	made = build_experts(b, build_norm(b, b->x, "pre_ffw_norm_2"), made, f);
	made = build_norm_rows(b, "post_ffw_norm_2", made);
	return build_sum(b, "ffn_sum", dense, made, 1);
}
