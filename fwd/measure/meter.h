/* meter: a rate measured several times, and its quantiles. */
#ifndef METER_H
#define METER_H

#include <stddef.h>

enum { METER_MAX = 256 };

struct meter {
	double rate[METER_MAX];
	size_t n;
};

/* Adds one; beyond METER_MAX the oldest is dropped. */
void meter_add(struct meter *m, double rate);

/* The q-quantile: 0 the least, 0.5 the median, 1 the greatest. 0 if there are no rates. */
double meter_quantile(const struct meter *m, double q);

#endif
