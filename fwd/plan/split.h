/* split: a model whose layers are divided among several plans. For each row, the next plan needs the residual streams
 * and whatever else its layers read of earlier ones, which the builder finds out (struct plan_parts). K and V are not
 * passed on, so layers that share them must be in one plan. */
#ifndef SPLIT_H
#define SPLIT_H

#include "plan.h"

/* Returns -1 unless layers [first, last) can have a plan of their own. The reason says where the model can be
 * divided. */
int split_check(struct model *m, size_t first, size_t last, struct why *w);

/* Sets rows [row, row + n) of the next batch to hidden[n][p->in.width]. */
void split_take(struct plan *p, size_t row, size_t n, const float *hidden);

/* Copies these rows of the last batch to hidden[n][p->out.width], for the next plan. */
void split_give(const struct plan *p, size_t row, size_t n, float *hidden);

#endif
