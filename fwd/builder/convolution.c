/* Short convolutions: as a mixer of their own, or before a recurrent one. */
#include "build.h"

/* A convolution with weights NAME.weight and biases NAME.bias. Taps are `apart` positions apart; the weights in between
 * are 0. */
static void append_apart(struct builder *b, const char *name, struct op_convolve *o, size_t taps, size_t apart)
{
	const float *given = build_transposed(b, name, "weight", o->n, taps);
	float *weight;

	o->taps = (taps - 1) * apart + 1;
	weight = build_allocate(b, o->taps * o->n * sizeof *weight);
	for (size_t i = 0; given && weight && i < o->taps * o->n; i++)
		weight[i] = i / o->n % apart ? 0 : given[i / o->n / apart * o->n + i % o->n];
	o->weight = weight;
	o->bias = build_bias(b, name, o->n);
	o->ring = build_ring(b, o->n * sizeof(float));
	o->state = build_state(b, (o->taps - 1) * o->n);
	build_output(build_append(b, &op_convolve, name, o, sizeof *o), 0, "", o->out, o->n);
}

static void append(struct builder *b, const char *name, struct op_convolve *o)
{
	append_apart(b, name, o, b->model->ssm.taps, 1);
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

void build_convolve_apart(struct builder *b, const char *name, struct buffer x, size_t n, size_t taps, size_t apart)
{
	struct op_convolve o = { .n = n, .in = x, .out = x };

	append_apart(b, name, &o, taps, apart);
}
