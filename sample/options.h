/* options: the command line of sample. */
#ifndef SAMPLE_OPTIONS_H
#define SAMPLE_OPTIONS_H

#include <stdint.h>

#include "lib/base/cli.h"
#include "lib/sampler/sampler.h"
#include "budget.h"
#include "constraint.h"

enum { BIAS_MAX = 4096, STOP_IDS_MAX = 256, BREAKERS_MAX = 64, NO_LIMIT = -1 };

struct sample_options {
	struct sampler_params chain;
	struct sampler_bias bias[BIAS_MAX];
	int64_t n, min;                 /* tokens, at most (or NO_LIMIT) and at least */
	int32_t stop_id[STOP_IDS_MAX], breaker_id[BREAKERS_MAX];
	size_t n_stop;
	struct sampler_breaker breaker[BREAKERS_MAX];
	const char *card;       /* a file that begins with one, or NULL */
	const char *model;              /* or NULL */
	struct grammar_source grammar;  /* option is NULL without one */
	struct budget_options budget;
	int ignore_eos, turns, trace, verbose;
	int32_t steps, block;           /* of a canvas (canvas.h): steps in all, 0: one for each id; ids of a block */
	int certainty;                  /* enum certainty */
};

extern const struct opt options_table[];
extern const struct cli_rule options_rules[];

/* Parses the command line into *set, which is zero; exits with status 2 on a usage error. */
void sample_options(struct cli *c, struct sample_options *set);

#endif
