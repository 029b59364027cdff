/* limits: what this machine can do at best just now, on the threads of a plan's pool and with its instruction set: reading the plan's own weights with
 * nothing done to them, at the best of several prefetch distances, and multiply-adds on data in registers. Machines are shared and change from minute
 * to minute, so these are measured next to what is held against them, in turns. */
#ifndef LIMITS_H
#define LIMITS_H

#include "fwd/kernels/peaks.h"
#include "meter.h"
#include "fwd/plan/plan.h"

enum { LIMITS_WAYS = 7 };       /* of reading */

struct limits {
	const struct peaks *peaks;
	struct meter read[LIMITS_WAYS];         /* bytes/s */
	struct meter codes, floats;             /* multiply-adds/s */
	/* private */
	struct pool *pool;
	struct stretch *stretch;        /* of the weights, in the order of the plan */
	size_t n_stretches, at;         /* the one that is read next */
	double reading, coding, floating;       /* the last rates, by which the next sample gets its length */
};

/* The plan is borrowed. -1 if memory is short. */
int limits_open(struct limits *l, const struct plan *p, struct why *w);
void limits_close(struct limits *l);

/* Begins again: what was measured before no longer counts. */
void limits_forget(struct limits *l);

/* One more sample of each, `seconds` long each. */
void limits_sample(struct limits *l, double seconds);

/* Medians so far; of reading, those of its best way. */
struct limit {
	double read, codes, floats;
};

struct limit limits_now(const struct limits *l);

/* How long this work takes at the limit: its multiply-adds one after the other, or its bytes where these take longer. bound: which it was. */
enum bound { BOUND_NONE, BOUND_READ, BOUND_CODES, BOUND_FLOATS };

double limit_seconds(const struct limit *l, const struct work *w, enum bound *bound);

#endif
