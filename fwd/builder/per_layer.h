/* per_layer: each layer's own input (Gemma 3n and 4): a part of the embedding of a row's id in a table of its own, plus
 * a product of the embedding. */
#ifndef PER_LAYER_H
#define PER_LAYER_H

#include "build.h"

struct per_layer {
	size_t n;                       /* elements of a layer's input; 0: none */
};

struct per_layer *per_layer_of(struct model *m);

/* Computes the inputs of all layers from the ids and the embedding, if the model has them. */
void build_per_layer_inputs(struct builder *b);

/* A branch: the layer's own input, gated by a product of x. */
struct value *build_per_layer(struct builder *b, struct value *x);

#endif
