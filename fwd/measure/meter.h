/* meter: a rate measured several times, and the middle of what came out: the bench's figures and the machine's limits alike. */
#ifndef METER_H
#define METER_H

#include <stddef.h>

enum { METER_MAX = 256 };

struct meter {
	double rate[METER_MAX];
	size_t n;
};

/* One more; beyond METER_MAX the oldest goes. */
void meter_add(struct meter *m, double rate);

/* The q-th part of them from below: 0 the least, 0.5 the median, 1 the greatest; 0 where there is none. */
double meter_quantile(const struct meter *m, double q);

#endif
