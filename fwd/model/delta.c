/* Linear attention. */
#include "build.h"

void build_linear(struct builder *b, struct op_linear *o)
{
	size_t keys = o->n_head_k * o->dim_k, values = o->n_head * o->dim_v;
	struct op *op;

	o->ring_k = build_ring(b, keys * sizeof(float));
	o->ring_d = build_ring(b, values * sizeof(float));
	o->ring_g = build_ring(b, o->n_head * sizeof(float));
	o->state = build_state(b, values * o->dim_k);
	build_append(b, &op_linear_gates, NULL, o, sizeof *o);
	op = build_append(b, &op_linear, NULL, o, sizeof *o);
	if (op)
		op->scratch = linear_scratch(o);
	build_leaves(op, 0, "", o->out, values);
	build_append(b, &op_linear_keep, NULL, o, sizeof *o);
}
