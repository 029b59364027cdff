/* options: what sample was asked for. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdint.h>

#include "lib/base/cli.h"
#include "lib/sampler/sampler.h"
#include "model.h"

enum { BIAS_MAX = 4096, STOP_IDS_MAX = 256, BREAKERS_MAX = 64, NO_LIMIT = -1 };

struct settings {
	struct sampler_params chain;
	struct sampler_bias bias[BIAS_MAX];
	int64_t n, min;                 /* ids, at most and at least; n: NO_LIMIT */
	uint64_t seed_step;             /* each turn's seed is the one before plus this */
	int32_t stop_id[STOP_IDS_MAX], breaker_id[BREAKERS_MAX];
	size_t n_stop;
	struct sampler_breaker breaker[BREAKERS_MAX];
	const char *model;              /* or NULL */
	struct grammar_source grammar;  /* its option is NULL without one */
	int ignore_eos, turns, trace, verbose;
};

extern const struct opt options_table[];

/* Reads the command line; what is wrong with it ends the program with status 2. */
void options(struct cli *c, struct settings *set);

#endif
