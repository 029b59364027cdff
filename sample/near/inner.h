/* inner: sums over the elements of a vector, in double: inner products that order vectors as exact ones would.
 *
 * The product of two floats is exact in a double, so an fma would round the same. Element k goes to accumulator k mod
 * 16, and one tree closes the sum: v[i] += v[i + 8] for i < 8, then 4, 2, 1. So every machine gives the same bits. */
#ifndef INNER_H
#define INNER_H

#include <stddef.h>

enum { INNER_LANES = 16 };

struct inner {
	/* The sum of row[i] · q[i] over the n floats of the row, and of row[i]². The row may have any alignment; the
	 * elements of q are floats, with zeros up to a multiple of INNER_LANES. */
	double (*product)(const char *row, const double *q, size_t n);
	double (*square)(const char *row, size_t n);
};

/* The best for this CPU. */
const struct inner *inner_select(void);

#endif
