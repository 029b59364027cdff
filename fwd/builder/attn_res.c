/* Attention residuals (Moonshot 2026). At each block of layers, the residual stream is banked and starts again at 0;
 * each part of a layer reads a weighted sum of it and of the banked streams. */
#include "build.h"

#include <string.h>

#include "lib/base/size.h"

/* The op's parameters for streams 0 to `blocks`. */
static struct op_attn_res streams(const struct builder *b, struct buffer x, struct buffer out, size_t blocks)
{
	return (struct op_attn_res){ .n = b->model->n_embd, .blocks = blocks, .x = x, .out = out,
		.gate = 1, .scores = b->plan->modes, .eps = b->model->eps };
}

/* The number of blocks that began before layer il. */
static size_t begun(const struct builder *b, size_t il)
{
	return size_divide_up(il, b->model->block_layers);
}

static struct packed *read_blocks(struct builder *b, const char *norm)
{
	int attention = !strcmp(norm, "attn_norm");
	struct buffer h = buffer_with(b->plan->h, b->model->n_embd);
	struct op_rows o = { .n = h.stride, .in = h, .out = h, .norm = build_norm_of(b, norm, h.stride) };
	struct op_attn_res r = streams(b, b->plan->x, h, begun(b, attention ? b->il : b->il + 1));
	const char *weight = attention ? "attn_res_score" : "ffn_res_score";

	build_add_branch(b);
	r.weight = build_vector(b, weight, "weight", r.n);
	if (r.blocks)
		build_output(build_append(b, &op_attn_res, weight, &r, sizeof r), 0, "", h, r.n);
	else
		o.in = b->plan->x;
	build_output(build_packing(b, norm, &o, SLOT_NORMED), 0, "", h, o.n);
	if (attention && b->il % b->model->block_layers == 0) {
		r.blocks++;
		build_append(b, &op_bank, NULL, &r, sizeof r);
	}
	return o.packed;
}

static void unite(struct builder *b, struct buffer x)
{
	struct op_attn_res o = streams(b, x, x, begun(b, (size_t)(b->layer - b->model->layer) + 1));

	o.weight = build_vector(b, "output_res_score", "weight", o.n);
	build_append(b, &op_attn_res, "output_res_score", &o, sizeof o);
}

void build_gated_attn_res(struct builder *b)
{
	size_t n = b->model->n_embd, begins = b->il % b->model->block_layers == 0;
	struct op_attn_res o = streams(b, b->plan->x, b->plan->x, 1 + b->il / b->model->block_layers);
	const float *gate = build_vector(b, "attn_res_gate", "weight", 1);

	build_add_branch(b);
	if (begins)
		build_copy(b, "attn_res_block", b->plan->x, buffer_at(b->plan->x, o.blocks * n), n);
	o.weight = build_vector(b, "attn_res_score", "weight", n);
	o.gate = gate ? *gate : 0;
	build_output(build_append(b, &op_attn_res, "attn_res_score", &o, sizeof o), 0, "", o.out, n);
}

const struct stream_kind gated_attn_res_streams = { .read = NULL };
const struct stream_kind attn_res_streams = { .read = read_blocks, .unite = unite };
