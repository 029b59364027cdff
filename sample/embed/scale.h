/* scale: normalises embeddings. */
#ifndef SCALE_H
#define SCALE_H

#include <stddef.h>

enum { SCALE_NONE = -1, SCALE_MAX = 0, SCALE_SUM = 1, SCALE_EUCLIDEAN = 2 };

/* Divides row[n] by (sum |x|^p)^(1/p), for p from 1 on; p SCALE_MAX: multiplies it so that the largest |x| is 32760;
 * SCALE_NONE: leaves it. Zeros stay zeros. The sums are doubles. */
void scale_row(float *row, size_t n, int p);

/* Whether all of row[n] is finite. */
int scale_is_finite(const float *row, size_t n);

#endif
