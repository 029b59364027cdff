/* limits: what this machine can do at best just now, on the threads of a plan's pool and with its instruction set:
 * reading the plan's own weights with nothing done to them, at the best of several prefetch distances, and
 * multiply-adds on data in registers. Machines are shared and their speed changes from minute to minute, so the limits
 * are measured in turn with what is compared to them. */
#ifndef LIMITS_H
#define LIMITS_H

#include "fwd/kernels/peaks.h"
#include "meter.h"
#include "fwd/plan/plan.h"

/* What is measured: bytes/s at each of the prefetch distances tried, and multiply-adds/s. */
enum { LIMITS_READS = 7, LIMITS_CODES = LIMITS_READS, LIMITS_FLOATS, LIMITS_RATES };

struct limits {
	/* private */
	const struct peaks *peaks;
	struct pool *pool;
	struct meter rate[LIMITS_RATES];
	double last[LIMITS_RATES];      /* the last of each, which set the length of the next sample */
	struct weights_part *part;      /* [n_parts], in the order of the plan */
	size_t n_parts, next;
};

/* The plan is borrowed. -1 if memory is short. */
int limits_open(struct limits *l, const struct plan *p, struct why *w);
void limits_close(struct limits *l);

/* Forgets the samples so far. */
void limits_forget(struct limits *l);

/* Takes one more sample of each rate, `seconds` long. */
void limits_sample(struct limits *l, double seconds);

/* Medians so far; of reading, the median at its best distance. */
struct limit {
	double read, codes, floats;
};

/* All 0 before the first sample. */
struct limit limits_now(const struct limits *l);

/* How long this work takes at the limit: its multiply-adds one after the other, or its bytes if reading them takes
 * longer. work->attention is not included. bound: which it was. */
enum bound { BOUND_NONE, BOUND_READ, BOUND_CODES, BOUND_FLOATS };

extern const char *const bound_name[];  /* by enum bound */

double limit_seconds(const struct limit *l, const struct work *w, enum bound *bound);

#endif
