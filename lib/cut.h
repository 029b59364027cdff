/* cut: where to cut a row so that the best of it remain, without sorting it. Time is linear in the row whatever it holds; nothing is allocated. */
#ifndef CUT_H
#define CUT_H

#include <stddef.h>
#include <stdint.h>

/* What remains: all above `value`, and of those equal to it the first `ties` in the row's order: the lowest ids win. */
struct cut {
	float value;
	size_t ties;
};

/* From the largest key[n] down, the fewest whose weights (1 each where weight is NULL) reach `target`, but at least one; all if they do not
 * reach it. No key is a NaN, n > 0. Equal keys are added in the row's order, others by groups of equal leading bits. */
struct cut cut_at(const float *key, const float *weight, size_t n, double target);

/* The indices of the k largest of x[n], descending, ties by the lower index; NaN and −infinity are left out. at has room for
 * min(n, CUT_ROOM(k)) indices and scratch for as many floats. Returns how many there are, at most k. cut_best() leaves them in the row's order. */
#define CUT_ROOM(k) (2 * (size_t)(k) + 256)
size_t cut_best(const float *x, size_t n, size_t k, int32_t *at, float *scratch);
size_t cut_best_sorted(const float *x, size_t n, size_t k, int32_t *at, float *scratch);

/* Where, from i on, the first of x[n] stands that is above low or a NaN; n if none is. Looks at 16 at a time, as compilers can. */
size_t cut_next(const float *x, size_t i, size_t n, float low);

/* The largest float below f, which is finite. */
float cut_below(float f);

#endif
