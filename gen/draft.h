/* draft: guesses how the text goes on, so that fwd can evaluate several ids at once: from repetitions in the text,
 * or by a small model that runs `fwd --chain`. Guesses never change what is generated, only how long it takes. While
 * they do not pay, there are none. */
#ifndef DRAFT_H
#define DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/process/stages.h"
#include "lib/stream/frame.h"
#include "result.h"

enum { DRAFT_MAX = 64 };        /* ids of a guess */

struct draft_rate {
	double seconds, ids;
	size_t rounds;
};

struct draft {                  /* starts as zeroes; set by the caller: */
	size_t most;            /* ids at once, at most DRAFT_MAX */
	struct stage *model;    /* runs the small model; NULL: from the text alone */

	int started;            /* private */
	int to, from;           /* of the small model */
	struct frame_in in;
	size_t n_ctx;           /* its context */
	struct ids known;    /* what it has evaluated */
	struct draft_rate plain, guessed;
	int32_t last[DRAFT_MAX];
	size_t n_last;          /* guesses of the round under way, */
	double began;           /* which began then; 0: none has */
	size_t pause, next_pause;
	size_t proposed, accepted, paused;      /* for -v */
};

void draft_close(struct draft *d);

/* Starts the small model, if there is one. card: the vocabulary of the ids, whatever model it names. -1 with a
 * reason. */
int draft_start(struct draft *d, const struct card *card, struct why *w);

/* Begins a round; `accepted` guesses of the last one were right. Guesses how seq goes on, at most `room` ids, into
 * ids[DRAFT_MAX]; returns how many. */
int draft_propose(struct draft *d, const struct card *card, const struct ids *seq, size_t accepted, int32_t *ids,
	size_t room, struct why *w);

/* How many of ids[n] begin the last guesses. */
size_t draft_matches(const struct draft *d, const int32_t *ids, size_t n);

#endif
