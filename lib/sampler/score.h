/* score: how well a row of logits predicts a token: the columns of a `scor` frame (enum score in frame.h). A row is
 * scored in blocks of SCORE_BLOCK logits, each on any thread, and the blocks are joined in order, so that the result
 * depends on the row alone. */
#ifndef SCORE_H
#define SCORE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/stream/frame.h"

enum { SCORE_BLOCK = 4096 };

/* What a block adds to the score of a token. */
struct score_part {
	float max;                      /* ignoring NaNs */
	uint32_t above;                 /* ids that are more likely than the token; of equal ones the lower ids */
	int invalid;                    /* there is a NaN or +infinity */
	double sum;                     /* of e^(x - max) as fmath_softmax() adds it; 0: invalid, or no finite max */
};

static inline size_t score_parts(size_t n_vocab)
{
	return (n_vocab + SCORE_BLOCK - 1) / SCORE_BLOCK;
}

/* Block b of row[n_vocab], for this id, which is in the vocabulary. fwd has the same for each instruction set
 * (fwd/kernels/kernels.h). */
void score_part(const float *row, size_t n_vocab, int32_t id, size_t b, struct score_part *part);

/* A logit of block b counts in `above` unless it is less than this. */
float score_least(const float *row, int32_t id, size_t b);

/* Those in `above` of block b for equality alone, which score_least() leaves out: where the id is in the block. */
uint32_t score_ties(const float *row, int32_t id, size_t b);

/* The score of the id, from all parts of the row. Returns ln of the sum of e^(x - max) over the row. That and
 * the log-probabilities are NaN for a row with a NaN or +infinity, or with nothing above −infinity; the best id of such
 * a row is 0 if there is none. */
double score_join(const struct score_part *part, const float *row, size_t n_vocab, int32_t id, float score[SCORE_COLS]);

/* The score of a whole row, by one thread. */
double score_row(const float *row, size_t n_vocab, int32_t id, float score[SCORE_COLS]);

#endif
