/* Hyper-connections with a gate for each element of each stream (Qwen 2026). A part reads the mean of the streams, each
 * normed and gated; the gates are a low-rank product of all streams together. Its branch is added to each stream with a
 * weight from another product. */
#include "build.h"

#include <string.h>

/* The tensors of a part, keyed by the norm that they replace. */
static const struct part {
	const char *of, *norm, *down, *up, *inject;
} parts[] = {
	{ "attn_norm", "hc_attn_norm", "hc_attn_down", "hc_attn_up", "hc_attn_inject" },
	{ "ffn_norm", "hc_ffn_norm", "hc_ffn_down", "hc_ffn_up", "hc_ffn_inject" },
	{ "", "output_hc_norm", "output_hc_down", "output_hc_up", NULL },
};

/* Norms the streams of x and divides them by their number, because everything that reads them wants a mean. */
static struct packed *norm_streams(struct builder *b, const char *name, struct buffer x)
{
	size_t streams = b->model->n_streams, n = streams * b->model->n_embd;
	struct op_rows o = { .n = n, .in = x, .out = b->plan->predicted, .norms = streams };
	float *weight = build_allocate(b, n * sizeof *weight);

	build_unfold(b, name, 1, streams, b->model->n_embd);
	o.norm = build_norms_of(b, name, streams, b->model->n_embd);
	for (size_t i = 0; weight && o.norm.weight && i < n; i++)
		weight[i] = o.norm.weight[i] / (float)streams;
	o.norm.weight = weight;
	build_packing(b, name, &o, SLOT_NORMED);
	return o.packed;
}

/* out = the mean of the gated streams of x. */
static void gather(struct builder *b, const char *of, struct buffer x, struct buffer out)
{
	const struct model *m = b->model;
	const struct part *part = parts;
	size_t n = m->n_streams * m->n_embd;
	struct buffer low = buffer_with(b->plan->wide, m->hyper.rank), gates = buffer_with(b->plan->wide, n);
	struct op_rows act = { .n = m->hyper.rank, .in = low, .out = low, .f = ROW_UNARY, .unary = UNARY_SILU };
	struct op_gather_gated sum = { .streams = m->n_streams, .n = m->n_embd, .x = b->plan->predicted,
		.gates = gates, .out = out };
	struct op_product o = { .n = 0 };

	while (strcmp(part->of, of))
		part++;
	o.x = norm_streams(b, part->norm, x);
	build_add_product(b, &o, part->down, NARROW, act.n, low);
	if (part->inject)       /* the weights for updating the streams go where scatter reads them (hyper.c) */
		build_add_product(b, &o, part->inject, NARROW, m->n_streams, buffer_at(b->plan->modes, m->n_streams));
	build_products(b, part->down, &o);
	build_packing(b, "streams_act", &act, SLOT_BRANCH);
	build_product(b, act.packed, part->up, NARROW, n, gates);
	build_output(build_append(b, &op_gather_gated, NULL, &sum, sizeof sum), 0, "", out, m->n_embd);
}

static struct packed *read_streams(struct builder *b, const char *norm)
{
	struct buffer out = buffer_with(b->plan->h, b->model->n_embd);

	build_add_branch(b);
	gather(b, norm, b->plan->x, out);
	return build_pack(b, norm, out, b->model->n_embd, SLOT_NORMED);
}

static void update_streams(struct builder *b)
{
	static const float one[2] = { 1, 1 }, zero[2 * STREAMS_MAX];
	struct op_hyper o = { .streams = b->model->n_streams, .n = b->model->n_embd, .x = b->plan->x,
		.mixes = b->plan->modes, .out = b->plan->branch, .scale = one, .base = zero, .magnitude = 2 };

	build_output(build_append(b, &op_scatter, NULL, &o, sizeof o), 0, "", o.x, o.streams * o.n);
}

static void unite(struct builder *b, struct buffer x)
{
	gather(b, "", x, x);
}

const struct stream_kind gated_streams = {
	.open = hyper_open, .read = read_streams, .update = update_streams, .unite = unite
};
