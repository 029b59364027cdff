/* topk: the largest values of a row, and the threshold above which they lie, without sorting it. Time is linear in the
 * row, whatever it holds; nothing is allocated. No row given to these functions holds a NaN unless they say so. */
#ifndef TOPK_H
#define TOPK_H

#include <stddef.h>
#include <stdint.h>

/* Selects all values above `value`, and of those equal to it the first `ties` in the row's order, so that the lowest
 * ids win. */
struct threshold {
	float value;
	size_t ties;
};

/* Selects the fewest of key[n], from the largest down, whose weights add up to `target`: at least one, and all if they
 * add up to less. weight[n], or NULL: each weighs 1. n > 0. Sums are doubles: equal keys are added in the row's order,
 * others in groups. */
struct threshold topk_threshold(const float *key, const float *weight, size_t n, double target);

/* The indices of the k largest of x[n], without those of −infinity; ties go to the lower index. Writes them to at[k],
 * in the row's order or, sorted, from the largest down. scratch[TOPK_SCRATCH(n)]. Returns how many there are, at most
 * k. */
enum { TOPK_BLOCK = 16 };
#define TOPK_SCRATCH(n) ((size_t)(n) + (size_t)(n) / TOPK_BLOCK + 1)
size_t topk_select(const float *x, size_t n, size_t k, int32_t *at, float *scratch);
size_t topk_sorted(const float *x, size_t n, size_t k, int32_t *at, float *scratch);

/* The first index from i on with x[index] > low, or with a NaN, which is allowed here; n if there is none. */
size_t topk_next_above(const float *x, size_t i, size_t n, float low);

/* How many of x[n] are `least` or more. n < 2^32 */
size_t topk_count(const float *x, size_t n, float least);

/* The largest of x[n], ignoring NaNs; −infinity if there is none. */
float topk_max(const float *x, size_t n);

/* The same; *finite: whether all of them are finite. */
float topk_max_finite(const float *x, size_t n, int *finite);

/* The largest float below f, which is finite. */
float topk_below(float f);

#endif
