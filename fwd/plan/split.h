/* split: a model whose layers are divided among several plans. For each row the next plan needs the residual streams
 * and, for families whose layers read them, values of the first layer (RWKV 7) and the per-layer inputs that the
 * embedding made (Gemma 3n and 4). K and V do not move: layers that share them must be in one plan. */
#ifndef SPLIT_H
#define SPLIT_H

#include "plan.h"

/* -1 unless layers [first, last) can have a plan of their own; the reason says where the model can be divided. */
int split_check(const struct model *m, size_t first, size_t last, struct why *w);

/* Floats of a row that a plan whose first layer is `layer` takes from the plan before. */
size_t split_width(const struct plan *p, size_t layer);

/* Sets rows [row, row + n) of the next batch to hidden[n][split_width(first)]. */
void split_take(struct plan *p, size_t row, size_t n, const float *hidden);

/* Copies the same rows of the last batch to hidden[n][split_width(last)], for the plan after. */
void split_give(const struct plan *p, size_t row, size_t n, float *hidden);

/* The positions from which a state can continue depend on the kinds of its layers. Makes the states of this plan follow
 * the rules of the whole model, so that all its plans can continue from the same positions. */
void split_state(struct plan *p);

#endif
