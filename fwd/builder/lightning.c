/* Lightning attention (Qin et al. 2024): linear attention whose decays are constants, one for each head. */
#include "build.h"

#include "fwd/model/mixers.h"
#include "fwd/model/rope.h"
#include "lib/base/fmath.h"

/* The logarithm of each head's decay: ALiBi's slopes, times a factor that falls from layer to layer. */
static const float *decays(struct builder *b, size_t heads)
{
	size_t last = b->model->n_layer - 1;
	double share = (last ? 1 - (double)b->il / (double)last : 1) + 1e-5;
	float *to = build_allocate(b, heads * sizeof *to);

	for (size_t h = 0; to && h < heads; h++)
		to[h] = (float)(-share * rope_exp(-8 * (double)(h + 1) / (double)heads * fmath_log(2)));
	return to;
}

struct packed *build_lightning(struct builder *b, struct packed *x)
{
	const struct layer *l = b->layer;
	size_t dim = l->dim_k, n = l->n_head * dim;
	struct buffer gate = buffer_with(b->plan->wide, mixers_lightning_wide(l)), out = buffer_at(gate, n);
	struct buffer q = buffer_at(out, n), k = buffer_at(q, n), v = buffer_at(k, n), raw = buffer_at(v, n);
	struct op_linear o = { .n_head = l->n_head, .n_head_k = l->n_head, .runs = 1, .dim_k = dim, .dim_v = dim,
		.constant = 1, .a = decays(b, l->n_head), .q = q, .k = k, .v = v, .d = v, .out = out,
		.decay = buffer_at(raw, 3 * n), .beta = buffer_at(raw, 3 * n + l->n_head) };
	struct op_rows act = { .n = 3 * n, .in = raw, .out = raw, .f = ROW_UNARY, .unary = UNARY_SILU };
	struct op_rows gated = { .n = n, .in = gate, .up = out, .out = buffer_with(b->plan->h, n), .f = ROW_GLU,
		.unary = UNARY_SIGMOID, .norm = build_norm_of(b, "attn_norm_2", n), .norm_first = 1 };

	build_product(b, x, "attn_qkv", NARROW, 3 * n, raw);
	build_product(b, x, "attn_gate", NARROW, n, gate);
	build_append(b, &op_rows, "attn_act", &act, sizeof act);
	build_deinterleave(b, "attn_qkv", raw, l->n_head, 3, (struct interleaved[]){
		{ dim, q }, { dim, k }, { dim, v } });
	build_linear(b, &o);
	build_mixed(b, gate, 2 * n);
	build_output(build_packing(b, "attn_gate", &gated, SLOT_BRANCH), 0, "", gated.out, n);
	return gated.packed;
}
