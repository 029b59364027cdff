/* result: what a generation produced, for its reports: -v, --json, the progress line and a conversation. */
#ifndef RESULT_H
#define RESULT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/stream/ids.h"

struct result {                 /* starts as zeroes and `begin` */
	double begin;           /* on clock_now()'s clock */
	struct ids prompt;
	struct ids ids;      /* generated */
	struct result_id {
		float logprob;  /* NaN where the sampler does not say */
		size_t likely, n_likely;        /* the most likely ids in its place, in `likely` */
		double time;    /* seconds since begin */
	} *each;                /* [ids.n] */
	size_t room;            /* of `each` */
	float (*likely)[2];     /* [n_likely] ids and log-probabilities */
	size_t n_likely, likely_room;
	uint32_t pos;           /* of ids.id[0] */
	size_t evaluated;       /* how many of ids, from the first on, fwd has evaluated */
	size_t passes;          /* frames that went to fwd */
	uint32_t reason;        /* enum frame_reason; 0: none was given */
	char *stop;             /* [n_stop] the stop string that ended it, or NULL */
	size_t n_stop;
};

/* n ids that were drawn for pos and the positions after it. */
int result_ids(struct result *r, const int32_t *id, size_t n, uint32_t pos, struct why *w);

/* A payload of `logp`, rows at least 1: id and log-probability of the id at pos, which may come after the id's
 * successors; then the most likely ids in its place. */
int result_logprobs(struct result *r, uint32_t pos, const float *payload, size_t rows, struct why *w);

/* It has ended, by the stop string text[n] if n is not 0; the first one counts. */
void result_end(struct result *r, uint32_t reason, const char *text, size_t n);

/* The sum of all log-probabilities; NaN where one is missing. */
double result_sum(const struct result *r);

void result_free(struct result *r);

#endif
