/* The norms of llama-embedding's --embd-normalize. */
#include "scale.h"

#include <math.h>

static double sum_of(const float *row, size_t n, int p)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double x = fabs((double)row[i]);

		if (p == SCALE_MAX)
			sum = x > sum ? x : sum;
		else
			sum += p == SCALE_SUM ? x : p == SCALE_EUCLIDEAN ? x * x : pow(x, p);
	}
	return sum;
}

void scale_row(float *row, size_t n, int p)
{
	const double largest = 32760;
	double sum;

	if (p == SCALE_NONE || !((sum = sum_of(row, n, p)) > 0))
		return;
	if (p == SCALE_EUCLIDEAN)
		sum = sqrt(sum);
	else if (p > SCALE_EUCLIDEAN)
		sum = pow(sum, 1.0 / p);
	for (size_t i = 0; i < n; i++)
		row[i] = (float)(p == SCALE_MAX ? (double)row[i] * largest / sum : (double)row[i] / sum);
}

int scale_is_finite(const float *row, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(row[i]))
			return 0;
	return 1;
}
