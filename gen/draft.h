/* draft: guesses the next ids, so that fwd can evaluate several at once: from repetitions in the text, or with a small
 * model that runs `fwd --chain`. Guesses never change what is generated, only how long it takes. Their number is chosen
 * for speed (guessing.h). */
#ifndef DRAFT_H
#define DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/process/stages.h"
#include "lib/stream/frame.h"
#include "guessing.h"
#include "result.h"

struct draft {                  /* starts as zeros; set by the caller: */
	struct guessing guessing;       /* guessing.most */
	struct stage *model;    /* stage that runs the small model; NULL: guess from the text */

	int started;            /* private from here on */
	int to, from;           /* descriptors of the small model's pipes */
	struct frame_in in;
	size_t n_ctx;           /* its context */
	struct ids known;       /* the ids that it has evaluated */
	size_t due;             /* `end ` frames that it has not sent yet */
	int32_t last[GUESSES_MAX];
	size_t n_last;          /* number of guesses of the current round */
	double making;          /* seconds that making them took */
	double began;           /* when their evaluation began; 0: no round yet */
	size_t proposed, accepted, plain;       /* for -v; plain: rounds without guesses */
};

void draft_close(struct draft *d);

/* Starts the small model, if there is one, on the prompt seq. card: the vocabulary of the ids; the model it names does
 * not matter. Returns -1 with a reason on failure. */
int draft_start(struct draft *d, const struct card *card, const struct ids *seq, struct why *w);

/* Begins a round, after `accepted` guesses of the last one were right. Guesses at most `room` ids to follow seq, into
 * ids[GUESSES_MAX]. Returns their number. */
int draft_propose(struct draft *d, const struct card *card, const struct ids *seq, size_t accepted, int32_t *ids,
	size_t room, struct why *w);

/* The number of ids in ids[n] that agree with the beginning of the last guesses. */
size_t draft_matches(const struct draft *d, const int32_t *ids, size_t n);

#endif
