/* draft: guesses how the text goes on, for the model to look at several ids at once: from the text's own repetitions, or from a small model that runs
 * `fwd --chain`. A guess costs time at most: what is generated does not depend on it. Where guessing does not pay it pauses. */
#ifndef DRAFT_H
#define DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/vocab/vocab.h"
#include "lib/base/why.h"
#include "gen.h"

enum { DRAFT_MAX = 64 };        /* ids of a guess */

struct draft_rate {
	double seconds, ids;
	size_t rounds;
};

struct draft {                  /* private, but for the counts */
	size_t most;
	int to, from;           /* of the small model; -1: there is none */
	struct frame_in in;
	size_t n_ctx;           /* its context */
	struct ids held;        /* what it has evaluated */
	struct draft_rate plain, guessed;
	size_t last;            /* guesses of the round under way, */
	double began;           /* 0: none yet */
	size_t pause, next_pause;
	size_t proposed, accepted, paused;
};

/* Whether the draft model has the model's vocabulary. -1: a reason. */
int draft_check(const struct request *q, struct why *w);

/* Starts q's small model, if it asks for one; card: whose ids these are, whatever model it names. -1: a reason. */
int draft_open(struct draft *d, struct request *q, const struct card *card, struct why *w);
void draft_close(struct draft *d);

/* A new round: of the last one's guesses `accepted` were right. Guesses, at most `room`, how seq goes on: into ids[DRAFT_MAX]; returns how many. */
int draft_propose(struct draft *d, const struct ids *seq, size_t accepted, int32_t *ids, size_t room, struct why *w);

/* For -v. */
void draft_report(const struct draft *d);

#endif
