/* split: a model whose layers are divided among several plans. For each row, the next plan needs the residual streams
 * and, in some families, what later layers read of the first ones: values of the first layer (RWKV 7) or per-layer
 * inputs (Gemma 3n and 4). K and V are not passed on, so layers that share them must be in one plan. */
#ifndef SPLIT_H
#define SPLIT_H

#include "plan.h"

/* Returns -1 unless layers [first, last) can have a plan of their own. The reason says where the model can be
 * divided. */
int split_check(const struct model *m, size_t first, size_t last, struct why *w);

/* Number of floats per row that a plan takes from the plan before, if its first layer is `layer`. */
size_t split_width(const struct plan *p, size_t layer);

/* Sets rows [row, row + n) of the next batch to hidden[n][split_width(first)]. */
void split_take(struct plan *p, size_t row, size_t n, const float *hidden);

/* Copies these rows of the last batch to hidden[n][split_width(last)], for the next plan. */
void split_give(const struct plan *p, size_t row, size_t n, float *hidden);

/* The positions from which a state can continue depend on its layers. This makes the states of this plan follow the
 * rules of the whole model, so that all its plans can continue from the same positions. */
void split_state(struct plan *p);

#endif
