/* Hyper-connections (Zhu et al. 2024): several residual streams; each part of a layer reads a weighted sum of all of
 * them, and its branch is added to all of them. */
#include "build.h"

#include <string.h>

/* The tensors of a part, keyed by the norm that follows. */
static const struct part {
	const char *norm, *fn, *scale, *base;
	size_t weights;                 /* for each stream: 2 (reading, updating), or 1 for the head, which only
					 * reads */
} parts[] = {
	{ "attn_norm", "hc_attn_fn", "hc_attn_scale", "hc_attn_base", 2 },
	{ "ffn_norm", "hc_ffn_fn", "hc_ffn_scale", "hc_ffn_base", 2 },
	{ "", "output_hc_fn", "output_hc_scale", "output_hc_base", 1 },
};

static struct op_hyper streams(const struct builder *b, struct buffer x, struct buffer out)
{
	const struct model *m = b->model;

	return (struct op_hyper){ .streams = m->n_streams, .n = m->n_embd, .x = x, .mixes = b->plan->modes,
		.out = out, .before = b->plan->predicted, .eps = m->hyper.eps, .magnitude = m->hyper.magnitude,
		.rounds = m->hyper.rounds };
}

/* out = the weighted sum of the streams of x; the weights are a product of all streams together. */
static void gather(struct builder *b, const char *norm, struct buffer x, struct buffer out)
{
	const struct part *part = parts;
	struct op *op;
	struct op_hyper o = streams(b, x, out);
	struct op_rows all = { .n = o.streams * o.n, .in = x, .out = b->plan->predicted,
		.norm = { .kind = NORM_RMS, .eps = b->model->eps } };
	size_t mixes, matrix;

	while (strcmp(part->norm, norm))
		part++;
	matrix = part->weights > 1 && o.rounds > 0;
	mixes = (part->weights + matrix * o.streams) * o.streams;
	build_packing(b, "streams_norm", &all, SLOT_NORMED);
	build_product(b, all.packed, part->fn, NARROW, mixes, o.mixes);
	o.scale = build_vector(b, part->scale, "weight", part->weights + matrix);
	o.base = build_vector(b, part->base, "weight", mixes);
	op = build_append(b, &op_gather, NULL, &o, sizeof o);
	build_output(op, 0, "", out, o.n);
	b->gathered = op ? op->bound : NULL;
}

void hyper_open(struct builder *b)
{
	size_t n = b->model->n_embd;
	struct op_copy o = { .copies = 1, .copy = { { .from = b->plan->x, .to = buffer_at(b->plan->x, n),
		.heads = b->model->n_streams - 1, .n = n, .to_step = n } } };

	build_append(b, &op_copy, "streams", &o, sizeof o);
}

static struct packed *read_streams(struct builder *b, const char *norm)
{
	struct op_rows o = { .n = b->model->n_embd, .in = buffer_with(b->plan->h, b->model->n_embd) };

	build_add_branch(b);
	gather(b, norm, b->plan->x, o.in);
	o.out = o.in;
	o.norm = build_norm_of(b, norm, o.n);
	build_output(build_packing(b, norm, &o, SLOT_NORMED), 0, "", o.out, o.n);
	return o.packed;
}

static void update_streams(struct builder *b)
{
	struct op_hyper o;

	if (b->failed)
		return;
	o = *b->gathered;
	o.out = b->plan->branch;
	build_output(build_append(b, &op_scatter, NULL, &o, sizeof o), 0, "", o.x, o.streams * o.n);
}

/* The first stream of x = the mean of all streams. */
static void average(struct builder *b, struct buffer x)
{
	size_t n = b->model->n_embd, streams = b->model->n_streams;
	struct op_rows sum = { .n = n, .x = x, .in = x, .out = x, .scale = 1 };

	for (size_t i = 1; i < streams; i++) {
		sum.branch = buffer_at(x, i * n);
		sum.x_scale = i + 1 < streams ? 0 : 1 / (float)streams;
		build_append(b, &op_rows, "streams_mean", &sum, sizeof sum);
	}
}

static void unite(struct builder *b, struct buffer x)
{
	if (b->model->hyper.averaged)
		average(b, x);
	else
		gather(b, "", x, x);
}

const struct stream_kind hyper_streams = {
	.open = hyper_open, .read = read_streams, .update = update_streams, .unite = unite
};
