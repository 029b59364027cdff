/* wkv: what the recurrences of RWKV 6 and 7 share. A work item is one head, over all rows of a run in order. */
#ifndef WKV_H
#define WKV_H

#include "kinds.h"

/* items() and work() of both kinds. */
size_t wkv_items(const struct op *op, const struct step *s);
void wkv_work(const struct op *op, const struct step *s, struct work *w);

/* Runs an item: calls move() for each row of it. move() updates state[size][size] by that row of the batch, and leaves
 * the head's result in the row. `at` is the index of the head's first element in r, w, k and so on. */
void wkv_rows(const struct op *op, const struct step *s, size_t item,
	void (*move)(const struct op *op, const struct kernels *k, size_t row, size_t at, float *state));

/* The sum of a[i] · b[i], i < n. */
float wkv_dot(const struct kernels *k, const float *a, const float *b, size_t n);

/* Norms out[size], if o has a norm. at: as above. */
void wkv_norm(const struct op_wkv *o, const struct kernels *k, float *out, size_t at);

#endif
