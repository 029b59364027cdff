/* sampler_reference: the chain of lib/sampler a second time, in doubles, by sorting and searching whole rows, with
 * libm's functions and nothing of the sampler but its parameters: what the tests hold it against. */
#ifndef SAMPLER_REFERENCE_H
#define SAMPLER_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/sampler/sampler.h"

struct ref_candidate {
	double l;
	int32_t id;
};

struct reference {
	const struct sampler_params *p;
	struct ref_candidate *c;        /* [n], −infinity left out; in any order */
	size_t n, n_vocab;
	double *prob;                   /* [n_vocab], by id, once ref_probabilities() was called */
	double temp;                    /* that the draw divides by */
	const int32_t *history;
	size_t n_history;
	uint32_t position;
	double mu;                      /* of mirostat */
};

/* A row without NaNs; everything is freed by ref_free(). */
void ref_start(struct reference *r, const struct sampler_params *p, const float *row, size_t n_vocab);
void ref_free(struct reference *r);

/* Applies the sampler of that name. */
void ref_apply(struct reference *r, const char *name);

void ref_probabilities(struct reference *r);

#endif
