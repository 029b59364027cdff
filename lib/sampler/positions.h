/* positions: reads the predictions of a stream one by one: each row of a `logi` or `scor` frame with the token that it
 * predicts, which frames of ids in the same stream give. Memory depends on the number of open sequences, not on the
 * length of the stream. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/stream/sequences.h"

struct position {
	uint32_t seq, pos;              /* of the token */
	int32_t id;                     /* the token; -1: logits whose token does not follow in the stream */
	int predicted;                  /* the fields below are set */
	float score[SCORE_COLS];        /* of the token; with id -1, only the columns about the best token are set; the
					 * rank is 0 if a sampler's log-probabilities do not tell it */
	const float *row;               /* [n_vocab], valid until the next call; NULL: the stream has no logits */
	size_t n_vocab;
	double log_sum;                 /* of the row (score.h) */
	const float (*best)[2];         /* [n_best] ids and log-probabilities of the best, by a sampler, valid until
					 * the next call; NULL: the stream has logits or scores */
	size_t n_best;
};

struct positions {
	struct frame_in in;
	struct card card;
	int carded;                     /* the card has been read */
	int whole;                      /* set by the caller: also return tokens for which the stream has no
					 * prediction */
	int ends;                       /* set by the caller: also return the end of each sequence, with id -1 and no
					 * prediction, in place of logits whose token does not follow */
	int drawn;                      /* set by the caller: count `logp` frames as predictions */

	/* private */
	struct frame f;
	uint32_t row;                   /* rows of f that have been read */
	float *logits;
	size_t room;
	struct sequences open;
	struct predicted *over;         /* the sequence that the last frame, an `end `, ended; or NULL */
	struct position held;           /* a prediction to return after tokens without one; */
	int holds;                      /* there is such a prediction */
	int begins;                     /* the frame's header has been read but not handled */
};

/* fd and name are borrowed; the name is for messages. */
void positions_open(struct positions *p, int fd, const char *name);
void positions_close(struct positions *p);

/* Returns 1 and the next prediction, those of a sequence in the order of their positions; 0 at the end of the input; -1
 * with the frame in the reason if the stream is damaged, logits or scores are not numbers, or tokens are missing. */
int positions_next(struct positions *p, struct position *out, struct why *w);

/* Returns -1 if the stream of this prediction belongs to another vocabulary than the model's, as far as its card, the
 * length of the row or an id outside the vocabulary tells. */
int positions_check(const struct positions *p, const struct position *at, const struct card *model, struct why *w);

#endif
