/* Hyper-connections with a gate for each element of each stream (Qwen 2026). A part reads the mean of the streams, each
 * normed and gated; the gates are a low-rank product of all streams together. Its branch is added to each stream with a
 * weight from another product. */
#include "hyper.h"

#include <string.h>

/* ---- the op: a work item is a row ---- */

/* out = the sum of the streams, each times the sigmoids of its gates. Overwrites the gates. */
struct op_gather_gated {
	size_t streams, n;
	struct buffer x, gates, out;    /* [streams][n] per row; the same; [n] */
};

static void gather_row(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_gather_gated *o = op->bound;
	float *gated = buffer_row(&o->gates, row), *to = buffer_row(&o->out, row);

	s->k->glu(UNARY_SIGMOID, gated, gated, buffer_row(&o->x, row), o->streams * o->n);
	memcpy(to, gated, o->n * sizeof *to);
	for (size_t i = 1; i < o->streams; i++)
		s->k->add(to, to, gated + i * o->n, o->n);
}

static void gather_uses(void *bound, struct uses *u)
{
	struct op_gather_gated *o = bound;

	u->rows(u, &o->x, o->streams * o->n, USE_READ);
	u->rows(u, &o->gates, o->streams * o->n, USE_SPOIL);
	u->rows(u, &o->out, o->n, USE_MAKE);
}

static const struct op_kind op_gather_gated = { .name = "gather", .uses = gather_uses, .items = op_each_row,
	.item = gather_row };

/* ---- building ---- */

/* The tensors of a part, keyed by the norm that they replace. */
static const struct gate_tensors {
	const char *of, *norm, *down, *up, *inject;
} parts[] = {
	{ "attn_norm", "hc_attn_norm", "hc_attn_down", "hc_attn_up", "hc_attn_inject" },
	{ "ffn_norm", "hc_ffn_norm", "hc_ffn_down", "hc_ffn_up", "hc_ffn_inject" },
	{ "", "output_hc_norm", "output_hc_down", "output_hc_up", NULL },
};

/* Norms the streams of x and divides them by their number, because everything that reads them wants a mean. */
static struct value *norm_streams(struct builder *b, const char *name, struct value *x)
{
	size_t streams = b->model->n_streams;
	struct op_rows o = { .norms = streams };
	float *weight = build_allocate(b, x->n * sizeof *weight);

	build_unfold(b, name, 1, streams, b->model->n_embd);
	o.norm = build_norms_of(b, name, streams, b->model->n_embd);
	for (size_t i = 0; weight && o.norm.weight && i < x->n; i++)
		weight[i] = o.norm.weight[i] / (float)streams;
	o.norm.weight = weight;
	return build_rows(b, name, o, x, build_value(b, x->n));
}

/* Returns the mean of the gated streams of x. Remembers the weights for updating the streams. */
static struct value *gather(struct builder *b, const char *of, struct value *x)
{
	static const float one[1] = { 1 }, zero[STREAMS_MAX];
	const struct model *m = b->model;
	const struct gate_tensors *part = parts;
	struct op_rows act = { .f = ROW_UNARY, .unary = UNARY_SILU };
	struct op_gather_gated sum = { .streams = m->n_streams, .n = m->n_embd };
	struct value *low = build_value(b, hyper_of(b->model)->rank), *inject = build_value(b, m->n_streams);
	struct value *out = build_value(b, m->n_embd);
	struct op_product o;

	while (strcmp(part->of, of))
		part++;
	x = norm_streams(b, part->norm, x);
	o = build_products_of(b, x);
	build_add_product(b, &o, part->down, NARROW, low);
	if (part->inject) {
		build_add_product(b, &o, part->inject, NARROW, inject);
		hyper_remember(b, (struct op_hyper){ .streams = m->n_streams, .n = m->n_embd,
			.mixes = rows_of(inject), .scale = one, .base = zero, .magnitude = 2 });
	}
	build_products(b, part->down, &o);
	low = build_rows(b, "streams_act", act, low, build_part(b, low, 0, low->n));
	sum.x = rows_of(x);
	sum.gates = rows_of(build_product(b, low, part->up, NARROW, x->n));
	sum.out = rows_of(out);
	build_output(b, build_append(b, &op_gather_gated, NULL, &sum, sizeof sum), 0, "", out, out->n);
	return out;
}

static struct value *read_streams(struct builder *b, const char *norm)
{
	return gather(b, norm, build_streams(b));
}

static struct value *unite(struct builder *b, struct value *all)
{
	return gather(b, "", all);
}

const struct stream_kind gated_streams = {
	.open = hyper_open, .read = read_streams, .add = hyper_scatter, .unite = unite
};
