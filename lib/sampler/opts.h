/* opts: the sampling options, as rows of an option table. sample obeys them; gen accepts them and passes them on. */
#ifndef SAMPLER_OPTS_H
#define SAMPLER_OPTS_H

#include "lib/base/cli.h"

enum {                          /* used as the option's letter */
	OPT_NUMBER = CLI_SHARED,        /* a number; the name says which */
	OPT_DRY,                        /* a number as well, which needs the default breakers, which are text */
	OPT_GREEDY, OPT_GUMBEL, OPT_PRESET, OPT_SAMPLERS, OPT_LETTERS, OPT_BREAKER, OPT_BREAKER_ID, OPT_IGNORE_EOS,
	OPT_STOP_ID, OPT_GRAMMAR, OPT_AFTER, OPT_TRACE, OPT_CERTAINTY,
	OPT_BUDGET, OPT_THINK_OPEN, OPT_THINK_CLOSE, OPT_THINK_MESSAGE
};

enum { SAMPLER_CANVAS = 128 };  /* tokens that a diffusion model generates without -n */

extern const struct opt sampler_opts[];

/* Whether the option needs the text of ids, so that sample needs a model. */
int sampler_opt_of_text(const struct opt *o);

#endif
