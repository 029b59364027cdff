/* meter: a rate measured several times, and its quantiles. */
#ifndef METER_H
#define METER_H

#include <stddef.h>

enum { METER_MAX = 256 };

struct meter {
	double rate[METER_MAX];
	size_t n;
};

/* Adds a rate. Beyond METER_MAX, the oldest is dropped. */
void meter_add(struct meter *m, double rate);

/* The q-quantile: q = 0 is the minimum, 0.5 the median, 1 the maximum. 0 if there are no rates. */
double meter_quantile(const struct meter *m, double q);

#endif
