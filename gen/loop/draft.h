/* draft: guesses the next ids, so that fwd can evaluate several at once: from repetitions in the text, or with a small
 * model that runs `fwd --chain`. Guesses never change what is generated, only how long it takes. Their number is chosen
 * for speed (guessing.h); it is the same for all sequences, because their ids are evaluated together. */
#ifndef DRAFT_H
#define DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/process/stages.h"
#include "lib/stream/card.h"
#include "lib/stream/ids.h"
#include "guessing.h"

struct guesses {                /* of a sequence; starts as zeros, but for: */
	uint32_t seq;           /* its number */
	const struct ids *text; /* its ids; borrowed */

	int32_t last[GUESSES_MAX];
	size_t n_last;          /* number of guesses of the current round */
	int begun;              /* there is one */
	struct ids known;       /* the ids that the small model has evaluated; unused in sequence 0 */
};

struct draft {                  /* starts as zeros; set by the caller: */
	struct guessing guessing;       /* guessing.most */
	struct stage *model;    /* stage that runs the small model; NULL: guess from the text */

	int started;            /* private from here on */
	int to, from;           /* descriptors of the small model's pipes */
	struct frame_in in;
	size_t n_ctx;           /* its context */
	struct ids first;       /* the ids of sequence 0 that it has evaluated, which others may begin with */
	size_t due;             /* `end ` frames that it has not sent yet */
	struct rounds {         /* a round of each sequence: */
		size_t n;       /* rounds that are over */
		size_t made, right;     /* guesses */
		double making;  /* seconds of making them */
		double began;   /* when it began; 0: not yet */
		size_t most;    /* guesses to make in each */
	} all;
	size_t proposed, accepted, plain;       /* for -v; plain: rounds without guesses */
};

void draft_close(struct draft *d);

/* The prompt of a sequence, one of `together`, has been sent: starts the small model, if there is one, and lets it
 * evaluate the prompt. card: the vocabulary of the ids; the model it names does not matter. Returns -1 with a reason on
 * failure. */
int draft_prompt(struct draft *d, struct guesses *g, const struct card *card, size_t together, struct why *w);

/* Begins a round of a sequence, one of `together`, after `accepted` guesses of its last round were right. Guesses at
 * most `room` ids to follow its text: g->last[g->n_last]. Returns -1 with a reason on failure. */
int draft_propose(struct draft *d, struct guesses *g, const struct card *card, size_t together, size_t accepted,
	size_t room, struct why *w);

/* The number of ids in ids[n] that agree with the beginning of the last guesses. */
size_t draft_matches(const struct guesses *g, const int32_t *ids, size_t n);

/* The sequence has ended. draft_forget() frees what is kept of it; draft_end() first tells the small model. */
int draft_end(struct draft *d, struct guesses *g, struct why *w);
void draft_forget(struct guesses *g);

#endif
