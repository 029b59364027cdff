/* opts: what sample can be asked for about how it draws, as rows of a table of options. sample obeys them; gen takes them too and passes them on. */
#ifndef SAMPLER_OPTS_H
#define SAMPLER_OPTS_H

#include "lib/base/cli.h"

enum {                          /* in the place of a letter */
	OPT_NUMBER = CLI_SHARED,        /* the name says which */
	OPT_DRY,                        /* a number, too; the breakers that are there by default are text */
	OPT_GREEDY, OPT_GUMBEL, OPT_PRESET, OPT_SAMPLERS, OPT_LETTERS, OPT_BREAKER, OPT_BREAKER_ID, OPT_IGNORE_EOS, OPT_STOP_ID, OPT_GRAMMAR, OPT_TRACE
};

extern const struct opt sampler_opts[];

/* Whether the option is about text, so that sample needs a model. */
int sampler_opt_of_text(const struct opt *o);

#endif
