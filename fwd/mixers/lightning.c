/* Lightning attention (Qin et al. 2024): linear attention whose decays are constants, one for each head. */
#include "linear.h"

#include "fwd/model/rope.h"
#include "lib/base/fmath.h"
#include "mixer.h"

/* The logarithm of each head's decay: ALiBi's slopes, times a factor that falls from layer to layer. */
static const float *decays(struct builder *b, size_t heads)
{
	size_t last = b->model->n_layer - 1;
	double share = (last ? 1 - (double)b->il / (double)last : 1) + 1e-5;
	float *to = build_allocate(b, heads * sizeof *to);

	for (size_t h = 0; to && h < heads; h++)
		to[h] = (float)(-share * fmath_exp_double(-8 * (double)(h + 1) / (double)heads * fmath_log(2)));
	return to;
}

static struct value *build(struct builder *b, struct value *x)
{
	const struct layer *l = b->layer;
	size_t dim = l->dim_k, n = l->n_head * dim;
	struct value *q = build_value(b, n), *k = build_value(b, n), *v = build_value(b, n);
	struct value *raw = build_product(b, x, "attn_qkv", NARROW, 3 * n), *gate, *out = build_value(b, n);
	struct op_rows act = { .f = ROW_UNARY, .unary = UNARY_SILU };
	struct op_rows gated = { .up = rows_of(out), .f = ROW_GLU, .unary = UNARY_SIGMOID,
		.norm = build_norm_of(b, "attn_norm_2", n), .norm_first = 1 };
	struct op_linear o = { .n_head = l->n_head, .n_head_k = l->n_head, .consecutive = 1, .dim_k = dim, .dim_v = dim,
		.constant = 1, .a = decays(b, l->n_head), .q = rows_of(q), .k = rows_of(k), .v = rows_of(v),
		.d = rows_of(v), .decay = rows_of(build_value(b, l->n_head)),
		.beta = rows_of(build_value(b, l->n_head)) };

	gate = build_product(b, x, "attn_gate", NARROW, n);
	raw = build_rows(b, "attn_act", act, raw, build_part(b, raw, 0, raw->n));
	build_deinterleave(b, "attn_qkv", raw, l->n_head, 3, (struct value *[]){ q, k, v });
	linear_build(b, &o, out);
	x = build_rows_shown(b, "attn_gate", gated, gate, build_value(b, n));
	return build_branch(b, x, "attn_output");
}

const struct mixer mixer_lightning = { .build = build };
