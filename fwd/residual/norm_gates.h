/* norm_gates: gates of a layer's norms (A.X K2). Normed rows are multiplied by sigmoids of a low-rank product of the
 * same rows. */
#ifndef NORM_GATES_H
#define NORM_GATES_H

#include "fwd/builder/build.h"

struct norm_gates {
	size_t rank;                    /* of the product; 0: no gates */
};

struct norm_gates *norm_gates_of(struct model *m);

/* Finds the rank in the tensors of layer 0. */
int norm_gates_read(struct model *m, struct why *w);

/* Multiplies x, the result of the norm NAME, by its gates, if it has any. */
struct value *build_norm_gates(struct builder *b, struct value *x, const char *name);

#endif
