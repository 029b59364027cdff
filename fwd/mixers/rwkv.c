/* What the layers of RWKV 6 and 7 share. */
#include "rwkv.h"

#include <string.h>

#include "fwd/model/keys.h"

struct rwkv *rwkv_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct rwkv));
}

int rwkv_read(struct model *m, struct why *w)
{
	struct rwkv *r = rwkv_of(m);

	if (key_required(m, "wkv.head_size", 1, RWKV_HEAD_MAX, &r->head_size, w) < 0)
		return -1;
	return m->n_embd % r->head_size ? why(w, "%s: %zu does not divide the width %zu",
		key_name(m, "wkv.head_size").s, r->head_size, m->n_embd) : 0;
}

void rwkv_low_rank(struct builder *b, struct value *x, const struct rwkv_low_rank *l, struct value *y)
{
	struct op_rows f = { .f = l->f, .unary = UNARY_SIGMOID };
	struct value *low = build_product(b, x, l->first, WIDE, l->rank);
	struct op_product o;

	if (l->f != ROW_SAME)
		low = build_rows(b, l->second, f, low, build_part(b, low, 0, low->n));
	o = build_products_of(b, low);
	build_add_product(b, &o, l->second, WIDE, y);
	if (l->bias)
		o.bias[0] = build_vector(b, l->bias, "weight", y->n);
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

const float *rwkv_shift_weights(struct builder *b, const char *const *names, size_t outputs)
{
	size_t n = b->model->n_embd;
	float *all = build_allocate(b, outputs * n * sizeof *all);

	for (size_t i = 0; i < outputs; i++) {
		const float *one = build_vector(b, names[i], "weight", n);

		if (all && one)
			memcpy(all + i * n, one, n * sizeof *all);
	}
	return all;
}

struct value *rwkv_shift(struct builder *b, const char *weights, size_t outputs, struct value *x)
{
	size_t n = b->model->n_embd;
	struct value *out = build_value(b, outputs * n);
	struct op_shift o = { .n = n, .outputs = outputs, .in = rows_of(x), .out = rows_of(out),
		.weight = build_table(b, weights, "weight", outputs, n), .state = build_state(b, n, 1) };

	build_output(b, build_append(b, &op_shift, weights, &o, sizeof o), 0, "", out, out->n);
	return out;
}
