/* settings: how ids are drawn: the options of the command line, or those of an `opts` frame, and what is opened for
 * them. The forks of a sequence share its settings. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

struct session;
struct grammars;
struct started;

struct settings {
	struct sample_options set;
	struct sampler *sampler;        /* each generation has a copy; NULL before the card */
	struct constraint *constraint;  /* each generation has a copy; NULL without a grammar */
	struct grammars *grammars;      /* has the grammars of `opts` frames; borrowed */
	struct started *grammar;        /* that of this `opts` frame, to be released; or NULL */
	struct budget *budget;          /* NULL without --think-budget */
	uint32_t first;                 /* the sequence that draws with the seed; sequence first + k with seed + k */

	/* of an `opts` frame; zeros for the command line */
	char *words;                    /* [n_words] */
	size_t n_words;
	uint32_t number;                /* of its sequence */
	size_t users;                   /* generations, and who opened them */
};

/* Whether the ids that options name are in a vocabulary of n_vocab. */
int settings_check_ids(const struct sample_options *set, int32_t n_vocab, struct why *w);

/* Opens the sampler and starts the grammar, if there is one, for the session's card. */
int settings_start(struct settings *t, struct session *s, struct why *w);

/* The settings of sequence `number`, whose options are words[n]: memory that becomes theirs, even on failure. The
 * caller is a user of them. NULL, with the reason, if they are refused. */
struct settings *settings_open(struct session *s, char *words, size_t n, uint32_t number, struct why *w);

/* A user less; the last one frees what settings_open() made. */
void settings_release(struct settings *t);

/* The seed of sequence `number`. */
uint64_t settings_seed(const struct settings *t, uint32_t number);

#endif
