/* result: what a generation produced, for its reports: -v, --json, the progress line and a conversation. */
#ifndef RESULT_H
#define RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/stream/ids.h"

struct result {                 /* starts as zeros, with `begin` set */
	double begin;           /* by clock_now() */
	struct ids prompt;
	struct ids ids;      /* generated */
	struct result_id {
		float logprob;  /* NaN if the sampler does not send it */
		size_t likely, n_likely;        /* the most likely ids at its position, in result.likely */
		double time;    /* seconds since begin */
	} *each;                /* [ids.n] */
	size_t room;            /* of `each` */
	float (*likely)[2];     /* [n_likely] ids and log-probabilities */
	size_t n_likely, likely_room;
	uint32_t pos;           /* position of ids.id[0] */
	size_t evaluated;       /* the number of ids, from the first on, that fwd has evaluated */
	size_t passes;          /* frames sent to fwd */
	uint32_t reason;        /* enum frame_reason; 0: none was given */
	char *stop;             /* [n_stop] the stop string that ended it, or NULL */
	size_t n_stop;
};

/* Records n ids that were drawn for pos and the positions after it. */
int result_ids(struct result *r, const int32_t *id, size_t n, uint32_t pos, struct why *w);

/* Records a `logp` payload of at least one row: id and log-probability of the id at pos, which may arrive after the ids
 * that follow it; then the most likely ids at its position. */
int result_logprobs(struct result *r, uint32_t pos, const float *payload, size_t rows, struct why *w);

/* Records the end, by the stop string text[n] if n is not 0. Only the first end counts. */
void result_end(struct result *r, uint32_t reason, const char *text, size_t n);

/* The sum of all log-probabilities; NaN if one is missing. */
double result_sum(const struct result *r);

/* In seconds, to the first id and from one to the next; rate: ids a second after the first. NaN if there are too few
 * ids. */
struct result_times {
	double first, min, mean, max, rate;
};

struct result_times result_times(const struct result *r);

void result_free(struct result *r);

#endif
