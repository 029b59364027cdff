/* hyper: hyper-connections (Zhu et al. 2024), several residual streams. */
#ifndef HYPER_H
#define HYPER_H

#include "fwd/builder/build.h"

struct hyper {
	float eps, magnitude;
	size_t rounds;                  /* times that the mixing matrix of the streams is normalised; 0: there is no
					 * matrix */
	size_t rank;                    /* of the gates of each element; 0: each stream has one weight */
	int averaged;                   /* the head reads the mean of the streams */
};

struct hyper *hyper_of(struct model *m);

/* Reads the keys of hyper-connections that mix the streams with a matrix. */
int hyper_read(struct model *m, struct why *w);

/* The residual stream has several streams of n elements. Each part of a layer
 * reads a weighted sum of them, and its branch is added, weighted, to each. The weights come from mixes, a product of
 * all streams: first one for reading each stream, then one for updating each. A weight is sigmoid(mix · scale + base),
 * for updating times magnitude, + eps.
 * gather: out = the weighted sum. scatter: x[i] += weight[i] · out, where out is the branch.
 * With rounds, streams² further mixes give a mixing matrix c (Xie et al. 2025): row by row, a softmax of mix · scale +
 * base, + eps; then, in each round, rows and then columns are divided by their sums + eps; the first round divides
 * columns only. scatter: x[i] = weight[i] · out + the sum of c[j][i] · x[j]; eps is not added to these weights. */
struct op_hyper {
	size_t streams, n;
	struct buffer x, mixes, out;    /* mixes: those of this op, [streams], then those of the matrix */
	struct buffer before;           /* scatter, with rounds: space for a copy of x */
	const float *scale, *base;      /* of each group of mixes, one; of each mix */
	float eps, magnitude;
	size_t rounds;
};

/* Sets all streams to the embedding. */
void hyper_open(struct builder *b);

/* A part that reads the streams calls hyper_remember() with the mixes by which hyper_scatter() adds its branch. */
void hyper_remember(struct builder *b, struct op_hyper o);
void hyper_scatter(struct builder *b, struct value *branch);

#endif
