/* draft: guesses how the text goes on, so that fwd can evaluate several ids at once: from repetitions in the text,
 * or by a small model that runs `fwd --chain`. Guesses never change what is generated, only how long it takes. There
 * are as many as pay (guessing.h). */
#ifndef DRAFT_H
#define DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/process/stages.h"
#include "lib/stream/frame.h"
#include "guessing.h"
#include "result.h"

struct draft {                  /* starts as zeroes; set by the caller: */
	struct guessing guessing;       /* its `most` */
	struct stage *model;    /* runs the small model; NULL: from the text alone */

	int started;            /* private */
	int to, from;           /* of the small model */
	struct frame_in in;
	size_t n_ctx;           /* its context */
	struct ids known;       /* what it has evaluated */
	size_t due;             /* `end ` frames that it has still to send */
	int32_t last[GUESSES_MAX];
	size_t n_last;          /* guesses of the current round */
	double making;          /* seconds that it took to make them */
	double began;           /* when their evaluation began; 0: there is no round yet */
	size_t proposed, accepted, plain;       /* for -v; rounds without guesses */
};

void draft_close(struct draft *d);

/* Starts the small model, if there is one, on the prompt seq. card: the vocabulary of the ids, whatever model it names.
 * -1 with a reason. */
int draft_start(struct draft *d, const struct card *card, const struct ids *seq, struct why *w);

/* Begins a round; `accepted` guesses of the last one were right. Guesses how seq goes on, at most `room` ids, into
 * ids[GUESSES_MAX]; returns how many. */
int draft_propose(struct draft *d, const struct card *card, const struct ids *seq, size_t accepted, int32_t *ids,
	size_t room, struct why *w);

/* How many of ids[n] begin the last guesses. */
size_t draft_matches(const struct draft *d, const int32_t *ids, size_t n);

#endif
