/* cut: where to cut a row so that the best of it remain, without sorting it. Time is linear in the row whatever it holds; nothing is allocated.
 * No row given to these functions holds a NaN. */
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
 * reach it. n > 0. Weights are added as doubles: equal keys in the row's order, others by groups. */
struct cut cut_at(const float *key, const float *weight, size_t n, double target);

/* The indices of the k largest of x[n], ties by the lower index, −infinity left out: into at[k], in the row's order or, sorted, from the largest
 * down. scratch has room for CUT_SCRATCH(n) floats. Returns how many there are, at most k. */
#define CUT_SCRATCH(n) ((size_t)(n) + (size_t)(n) / 64 + 1)
size_t cut_best(const float *x, size_t n, size_t k, int32_t *at, float *scratch);
size_t cut_best_sorted(const float *x, size_t n, size_t k, int32_t *at, float *scratch);

/* Where, from i on, the first of x[n] stands that is above low (or is a NaN, which is allowed here); n if none is. 16 at a time, as compilers can. */
size_t cut_next(const float *x, size_t i, size_t n, float low);

/* The largest of x[n], NaNs passed over; −infinity for none. */
float cut_max(const float *x, size_t n);

/* The largest float below f, which is finite. */
float cut_below(float f);

#endif
