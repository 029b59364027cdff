/* Gates of norms. */
#include "norm_gates.h"

#include <string.h>

#include "fwd/model/keys.h"

struct norm_gates *norm_gates_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct norm_gates));
}

int norm_gates_read(struct model *m, struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "blk.0.attn_norm_gate_a.weight");

	if (!t || t->dim[1] > RANK_MAX)
		return why(w, "tensor blk.0.attn_norm_gate_a.weight: %s", t ? "too many rows" : "missing");
	norm_gates_of(m)->rank = (size_t)t->dim[1];
	return 0;
}

/* Norms that may have gates, and the gates' tensors. */
static const struct norm_gate {
	const char *norm, *down, *up;
} norm_gates[] = {
	{ "attn_norm", "attn_norm_gate_a", "attn_norm_gate_b" }, { "ffn_norm", "ffn_norm_gate_a", "ffn_norm_gate_b" },
};

static const struct norm_gate *gate_of(const struct builder *b, const char *norm)
{
	for (size_t i = 0; i < sizeof norm_gates / sizeof *norm_gates; i++)
		if (!strcmp(norm, norm_gates[i].norm) && build_has(b, norm_gates[i].down))
			return &norm_gates[i];
	return NULL;
}

struct value *build_norm_gates(struct builder *b, struct value *x, const char *norm)
{
	const struct norm_gate *g = norm_gates_of(b->model)->rank ? gate_of(b, norm) : NULL;
	struct op_rows act = { .f = ROW_UNARY, .unary = UNARY_SILU }, gated = { .f = ROW_GLU, .unary = UNARY_SIGMOID };
	struct value *low;

	if (!g)
		return x;
	low = build_product(b, x, g->down, NARROW, norm_gates_of(b->model)->rank);
	low = build_rows(b, "norm_gate_act", act, low, build_part(b, low, 0, low->n));
	low = build_product(b, low, g->up, NARROW, x->n);
	gated.up = rows_of(x);
	return build_rows_shown(b, "norm_gated", gated, low, build_value(b, x->n));
}
