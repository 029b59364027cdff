/* What the layers of RWKV 6 and 7 share. */
#include "rwkv.h"

void rwkv_low_rank(struct builder *b, struct packed *x, const struct rwkv_low_rank *l, struct buffer low,
	struct buffer y)
{
	struct op_rows f = { .n = l->rank, .in = low, .out = low, .f = l->f, .unary = UNARY_SIGMOID };
	struct op_product o = { .n = 0 };

	build_product(b, x, l->first, WIDE, l->rank, low);
	build_packing(b, l->second, &f, SLOT_BRANCH);
	o.x = f.packed;
	build_add_product(b, &o, l->second, WIDE, b->model->n_embd, y);
	if (l->bias)
		o.bias[0] = build_vector(b, l->bias, "weight", b->model->n_embd);
	build_products(b, l->second, &o);
}

struct norm rwkv_norm(struct builder *b)
{
	struct norm norm = { .kind = NORM_NONE };

	if (build_has(b, "time_mix_ln")) {
		norm = build_norm_of(b, "time_mix_ln", b->model->n_embd);
		norm.kind = NORM_LAYER;
		norm.eps = 64e-5f;
	}
	return norm;
}

void rwkv_transformer_layer(struct builder *b, struct packed *(*time_mix)(struct builder *b))
{
	build_norm(b, "attn_norm");
	build_branch(b, time_mix(b), "time_mix_output");
	build_unmixed(b);
	build_branch(b, build_gated(b, build_norm(b, "ffn_norm"), UNARY_SILU), "ffn_down");
}
