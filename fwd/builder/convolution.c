/* Short convolutions: in place of attention, or before a state space. */
#include "build.h"

/* Of n channels, with weights NAME.weight and biases NAME.bias. */
static void append(struct builder *b, const char *name, struct op_convolve *o)
{
	o->taps = b->model->ssm.taps;
	o->weight = build_transposed(b, name, "weight", o->n, o->taps);
	o->bias = build_bias(b, name, o->n);
	o->ring = build_ring(b, o->n * sizeof(float));
	o->state = build_state(b, (o->taps - 1) * o->n);
	build_leaves(build_append(b, &op_convolve, name, o, sizeof *o), 0, "", o->out, o->n);
}

struct packed *build_convolution(struct builder *b, struct packed *x)
{
	size_t n = b->model->n_embd;
	struct op_convolve o = { .n = n, .gated = 1, .in = buffer_with(b->plan->wide, 3 * n),
		.out = buffer_with(b->plan->h, n) };

	build_product(b, x, "shortconv.in_proj", NARROW, 3 * n, o.in);
	append(b, "shortconv.conv", &o);
	build_mixed(b, o.out, n);
	return build_pack(b, "conv_pack", o.out, n, SLOT_BRANCH);
}

void build_convolve(struct builder *b, const char *name, struct buffer x, size_t n)
{
	struct op_convolve o = { .n = n, .in = x, .out = x };

	append(b, name, &o);
}
