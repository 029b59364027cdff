/* mamba: the selective scan of Mamba, and what Mamba and PLaMo 2 share. */
#ifndef MAMBA_H
#define MAMBA_H

#include "fwd/builder/build.h"

/* A selective scan of n channels, each with its own states s. With d = softplus(dt):
 *   s[i] = e^(d · a[i]) · s[i] + (d · x) · b[i];  y = skip · x + the sum of c[i] · s[i], i ascending. */
struct op_scan {
	size_t n, states;
	const float *a, *skip;          /* [states][n]; [n] */
	struct buffer x, dt, bc;        /* dt: overwritten by y; bc: b, then c, shared by all channels */
	size_t state;                   /* offset in the segment: [states][n] */
};

extern const struct op_kind op_scan;

/* Norms x in place, if the model has these norms. */
struct value *mamba_norm(struct builder *b, const char *name, struct value *x);

/* The branch of y · silu(z), normed by o.norm. */
struct value *mamba_out(struct builder *b, struct value *z, struct value *y, struct op_rows o);

#endif
