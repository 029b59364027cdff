/* positions: reads the predictions of a stream one by one: each row of a `logi` or `scor` frame with the token that it
 * predicts, which frames of ids in the same stream give. Memory depends on the number of open sequences, not on the
 * length of the stream. */
#ifndef POSITIONS_H
#define POSITIONS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/stream/sequences.h"

struct position {
	uint32_t seq, pos;              /* of the token */
	int32_t id;                     /* the token; -1: logits whose token does not follow in the stream */
	int predicted;                  /* what follows is set */
	float score[SCORE_COLS];        /* of the token; of id -1 only those columns that are about the best */
	const float *row;               /* [n_vocab], until the next call; NULL: the stream holds scores */
	size_t n_vocab;
	double log_sum;                 /* of the row (score.h) */
};

struct positions {
	struct frame_in in;
	struct card card;
	int carded;                     /* the card has been read */
	int whole;                      /* set by the caller: tokens that the stream has no prediction of come, too */
	int drawn;                      /* as well: `logp` frames are predictions, of rank 0 and without others */

	/* private */
	struct frame f;
	uint32_t row;                   /* rows of f that were read */
	float *logits;
	size_t room;
	struct sequences open;
	struct predicted *over;         /* the sequence whose `end ` was the last frame; or NULL */
	struct position held;           /* a prediction that comes after tokens without one; */
	int holds;                      /* there is one */
	int begins;                     /* the frame's header has been read, and what it means not yet been done */
};

/* fd and name are borrowed; the name is for messages. */
void positions_open(struct positions *p, int fd, const char *name);
void positions_close(struct positions *p);

/* 1: the next one, those of a sequence in the order of their positions; 0: end of input; -1: a damaged stream, logits
 * or scores that are not numbers, or tokens that are not there, with the frame in the reason. */
int positions_next(struct positions *p, struct position *out, struct why *w);

/* -1 if the stream of this prediction is not about the model's vocabulary, as far as it tells: by its card, or by the
 * length of the row. */
int positions_check(const struct positions *p, const struct position *at, const struct card *model, struct why *w);

#endif
