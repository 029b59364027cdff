/* wkv: what the recurrences of RWKV 6 and 7 share. A piece is a head of the rows of one run, in order. */
#ifndef WKV_H
#define WKV_H

#include "kinds.h"

size_t wkv_pieces(const struct op *op, const struct step *s);
void wkv_work(const struct op *op, const struct step *s, struct work *w);

/* Rows of a head, which begins at element `at` of each: `move` moves the state on by one row, and leaves its result in
 * that row. */
void wkv_rows(const struct op *op, const struct step *s, size_t piece,
	void (*move)(const struct op *op, const struct kernels *k, size_t row, size_t at, float *state));

float wkv_dot(const struct kernels *k, const float *a, const float *b, size_t n);

/* The norm of a head's result, if there is one. */
void wkv_norm(const struct op_wkv *o, const struct kernels *k, float *out, size_t at);

#endif
