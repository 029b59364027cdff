/* Embeddings of n-grams (model.h). Keys and a value are products of the rows of the table. Each stream's gate is
 * computed from its key and the normed stream. The gated value is added to the stream, and so is a convolution of
 * it. */
#include "build.h"

/* to = x, each stream normed with its own weights. */
static void norm_streams(struct builder *b, const char *name, struct buffer x, struct buffer to)
{
	size_t streams = b->model->n_streams;
	struct op_rows o = { .n = streams * b->model->n_embd, .in = x, .out = to, .norms = streams };

	build_unfold(b, name, 1, streams, b->model->n_embd);
	o.norm = build_norms_of(b, name, streams, b->model->n_embd);
	build_append(b, &op_rows, name, &o, sizeof o);
}

static void add_streams(struct builder *b, const char *name, struct buffer from)
{
	struct buffer x = b->plan->x;
	struct op_rows o = { .n = b->model->n_streams * b->model->n_embd, .x = x, .branch = from, .in = x, .out = x,
		.scale = 1 };

	build_output(build_append(b, &op_rows, name, &o, sizeof o), 0, "", x, o.n);
}

/* Returns the table's rows of all heads, side by side, packed. */
static struct packed *look_up(struct builder *b)
{
	const struct ngrams *g = &b->model->ngrams;
	struct buffer rows = buffer_with(b->plan->h, b->model->n_embd);
	struct op_ngrams o = { .ngrams = g, .out = rows };
	size_t il = b->il;

	b->il = OP_NO_LAYER;
	build_matrix(b, "per_layer_token_embd", g->rows, g->n, &o.table);
	b->il = il;
	build_output(build_append(b, &op_ngrams, NULL, &o, sizeof o), 0, "", rows, rows.stride);
	return build_pack(b, "ngrams_pack", rows, rows.stride, SLOT_BRANCH);
}

void build_ngrams(struct builder *b)
{
	const struct ngrams *g = &b->model->ngrams;
	struct plan *p = b->plan;
	size_t n = b->model->n_embd, all = b->model->n_streams * n;
	struct buffer keys = buffer_with(p->wide, all), spare = p->predicted;
	struct op_ngram_gates gates = { .streams = b->model->n_streams, .n = n, .keys = keys, .queries = spare,
		.value = p->branch };
	struct op_product o = { .n = 0 };

	build_add_branch(b);
	o.x = look_up(b);
	build_add_product(b, &o, "ple_key", NARROW, all, keys);
	build_add_product(b, &o, "ple_value", NARROW, n, p->branch);
	build_products(b, "ple_key", &o);
	norm_streams(b, "ple_norm_key", keys, keys);
	norm_streams(b, "ple_norm_query", p->x, spare);
	build_output(build_append(b, &op_ngram_gates, NULL, &gates, sizeof gates), 0, "", keys, all);
	norm_streams(b, "ple_norm_conv", keys, spare);
	build_convolve_apart(b, "ple_conv1d", spare, all, g->taps, g->longest);
	add_streams(b, "ple_add", keys);
	add_streams(b, "ple_add_conv", spare);
}
