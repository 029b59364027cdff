/* convolution: short causal convolutions of each channel: a mixer of their own, or before another one. */
#ifndef CONVOLUTION_H
#define CONVOLUTION_H

#include "fwd/builder/build.h"
#include "mixer.h"

/* A causal convolution of each of n channels: y at position t is the sum of weight[taps - 1 - j] · (u at t - j) over j
 * < taps, added product by product, j ascending, plus the bias. Plain: u = x, out = silu(y). Gated (Liquid AI 2025): u
 * = b · x, out = c · y. taps - 1 is at most STATE_CHUNK. */
struct op_convolve {
	size_t n, taps;
	const float *weight, *bias;     /* [taps][n]; [n] or NULL */
	int gated;
	struct buffer in, out;          /* in: x, and out may be the same; gated: b, c and x, n elements each */
	size_t ring, state;             /* offsets in the segment of u, [n]: in recent rows; in a state, which has taps
					 * - 1 rows */
};

extern const struct op_kind op_convolve;

/* Convolution of x's channels by NAME.weight and NAME.bias, then silu, in place. `taps` taps, `apart` positions
 * apart. */
struct value *convolve(struct builder *b, const char *name, struct value *x, size_t taps, size_t apart);

#endif
