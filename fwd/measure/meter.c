/* Keeps the latest rates in a ring. Quantiles are interpolated between sorted rates. */
#include "meter.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/size.h"

void meter_add(struct meter *m, double rate)
{
	m->rate[m->n++ % METER_MAX] = rate;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double meter_quantile(const struct meter *m, double q)
{
	size_t n = size_min(m->n, METER_MAX), i;
	double sorted[METER_MAX], at = q * ((double)n - 1);

	if (!n)
		return 0;
	memcpy(sorted, m->rate, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, by_size);
	i = (size_t)at;
	return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}
