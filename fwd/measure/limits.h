/* limits: what this machine can do at best right now, with a plan's threads and instruction set: the rate of reading
 * the plan's weights without using them, at the best of several prefetch distances, and the rate of multiply-adds on
 * data in registers. Other users of a machine change its speed from minute to minute, so limits are measured in turn
 * with what is compared to them. */
#ifndef LIMITS_H
#define LIMITS_H

#include "fwd/kernels/peaks.h"
#include "meter.h"
#include "fwd/plan/plan.h"

/* What is measured: bytes/s at each prefetch distance, and multiply-adds/s. */
enum { LIMITS_READS = 7, LIMITS_CODES = LIMITS_READS, LIMITS_FLOATS, LIMITS_RATES };

struct limits {
	/* private */
	const struct peaks *peaks;
	struct pool *pool;
	struct meter rate[LIMITS_RATES];
	double last[LIMITS_RATES];      /* the last rate of each, which determines the size of the next sample */
	struct weights_part *part;      /* [n_parts], in the order of the plan */
	size_t n_parts, next;
};

/* Borrows the plan. Returns -1 if memory is short. */
int limits_open(struct limits *l, const struct plan *p, struct why *w);
void limits_close(struct limits *l);

/* For bench: discards all samples. */
void limits_forget(struct limits *l);

/* Takes one more sample of each rate, `seconds` long. */
void limits_sample(struct limits *l, double seconds);

/* Medians of the samples; of reading, at the distance with the best median. */
struct limit {
	double read, codes, floats;
};

/* The current limits; all 0 before the first sample. */
struct limit limits_now(const struct limits *l);

/* The time that this work takes at the limit: that of its multiply-adds (quantised plus float), or that of reading its
 * bytes if that is longer. Ignores work->attention. *bound: which it was. */
enum bound { BOUND_NONE, BOUND_READ, BOUND_CODES, BOUND_FLOATS };

extern const char *const bound_name[];  /* indexed by enum bound */

double limit_seconds(const struct limit *l, const struct work *w, enum bound *bound);

#endif
