/* Short convolutions in place of attention. */
#include "build.h"

/* The taps of each channel, as rows of all channels. */
static const float *taps_of(struct builder *b, const char *name, size_t taps, size_t n)
{
	const float *from = build_vector(b, name, "weight", taps * n);
	float *to = build_allocate(b, taps * n * sizeof *to);

	for (size_t i = 0; from && to && i < taps * n; i++)
		to[i % taps * n + i / taps] = from[i];
	return to;
}

struct packed *build_convolution(struct builder *b, struct packed *x)
{
	size_t n = b->model->n_embd;
	struct op_convolve o = { .n = n, .taps = b->model->ssm.taps, .in = buffer_with(b->plan->wide, 3 * n),
		.out = buffer_with(b->plan->h, n) };
	struct op_rows pack = { .n = n, .in = o.out, .out = o.out };

	o.weight = taps_of(b, "shortconv.conv", o.taps, n);
	o.ring = build_ring(b, n * sizeof(float));
	o.state = build_state(b, (o.taps - 1) * n);
	build_product(b, x, "shortconv.in_proj", NARROW, 3 * n, o.in);
	build_leaves(build_append(b, &op_convolve, NULL, &o, sizeof o), 0, "", o.out, n);
	build_mixed(b, o.out, n);
	build_packing(b, "conv_pack", &pack, SLOT_BRANCH);
	return pack.packed;
}
