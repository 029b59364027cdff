/* options: the command line of sample, and the options of a sequence, which follow those of the command line. */
#ifndef SAMPLE_OPTIONS_H
#define SAMPLE_OPTIONS_H

#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/cli.h"
#include "lib/sampler/sampler.h"
#include "budget.h"
#include "constraint.h"

enum { BIAS_MAX = 4096, STOP_IDS_MAX = 256, BREAKERS_MAX = 64, NO_LIMIT = -1 };

struct sample_options {
	struct sampler_params chain;
	struct {                        /* from which the chain is made: */
		struct sampler_params chain;    /* without what --preset, --gumbel and --greedy fill in */
		uint32_t numbers;               /* bit i: number i of the table was given */
		int preset;                     /* or -1 */
		int greedy, breakers;           /* breakers: texts were named, or none */
	} asked;
	int seeded;                     /* the seed is that of an option of this sequence */
	struct sampler_bias bias[BIAS_MAX];
	int64_t n, min;                 /* tokens, at most (or NO_LIMIT) and at least */
	int32_t stop_id[STOP_IDS_MAX], breaker_id[BREAKERS_MAX];
	size_t n_stop;
	struct sampler_breaker breaker[BREAKERS_MAX];
	struct arena texts;             /* of these */
	const char *card;       /* a file that begins with one, or NULL */
	const char *model;              /* or NULL */
	struct grammar_source grammar;  /* option is NULL without one */
	struct budget_options budget;
	int own_budget;                 /* an option of it is of this sequence */
	int look;                       /* --prompt-logprobs */
	int given;                      /* --prompt-ids */
	int ignore_eos, turns, trace, verbose;
	int32_t steps, block;           /* of a canvas (canvas.h): steps in all, 0: one for each id; ids of a block */
	int certainty;                  /* enum certainty */
};

extern const struct opt options_table[];
extern const struct cli_rule options_rules[];

/* Parses the command line into *set, which is zero; exits with status 2 on a usage error. */
void sample_options(struct cli *c, struct sample_options *set);

/* Makes *set from `line`, which has been parsed from the command line of c, and the options of a sequence, words[n],
 * which are borrowed, as by cli_words(). Its grammar is that of the sequence, if it has one. -1 with the reason if they
 * are refused. The caller calls sample_options_free() in either case. */
int sample_options_of(const struct cli *c, const struct sample_options *line, const char *words, size_t n,
	struct sample_options *set, struct why *w);
void sample_options_free(struct sample_options *set);

#endif
