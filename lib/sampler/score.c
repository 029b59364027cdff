/* The score of a token by a row of logits. */
#include "score.h"

#include <float.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "lib/base/size.h"
#include "topk.h"

static uint32_t count(const float *x, size_t n, float least)
{
	uint32_t n_above = 0;

	for (size_t i = 0; i < n; i++)
		n_above += !(x[i] < least);
	return n_above;
}

static uint32_t invalid(const float *x, size_t n)
{
	uint32_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += !(x[i] <= FLT_MAX);
	return found;
}

float score_least(const float *row, int32_t id, size_t b)
{
	return (size_t)id / SCORE_BLOCK > b ? row[id] : nextafterf(row[id], INFINITY);
}

uint32_t score_ties(const float *row, int32_t id, size_t b)
{
	uint32_t ties = 0;

	for (size_t i = b * SCORE_BLOCK; (size_t)id / SCORE_BLOCK == b && i < (size_t)id; i++)
		ties += row[i] == row[id];
	return ties;
}

void score_part(const float *row, size_t n_vocab, int32_t id, size_t b, struct score_part *part)
{
	float scratch[SCORE_BLOCK];
	size_t n = size_min(n_vocab - b * SCORE_BLOCK, SCORE_BLOCK);
	const float *x = row + b * SCORE_BLOCK;

	*part = (struct score_part){ .max = topk_max(x, n), .invalid = invalid(x, n) > 0,
		.above = count(x, n, score_least(row, id, b)) + score_ties(row, id, b) };
	if (part->max > -INFINITY && !part->invalid)
		part->sum = fmath_softmax(x, part->max, scratch, n);
}

double score_join(const struct score_part *part, const float *row, size_t n_vocab, int32_t id, float score[SCORE_COLS])
{
	size_t n = score_parts(n_vocab), best = 0, at = 0;
	uint32_t above = 0;
	double sum = 0, log_sum;
	int bad = 0;

	for (size_t b = 0; b < n; b++) {
		bad |= part[b].invalid;
		above += part[b].above;
		if (part[b].max > part[best].max)
			best = b;
	}
	if (part[best].max > -INFINITY)
		for (at = best * SCORE_BLOCK; !(row[at] >= part[best].max); at++)
			;
	else
		bad = 1;
	for (size_t b = 0; b < n && !bad; b++)
		if (part[b].max > -INFINITY)
			sum += part[b].sum * (double)fmath_exp(part[b].max - part[best].max);
	log_sum = bad ? NAN : fmath_log(sum);
	score[SCORE_LOGPROB] = (float)((double)row[id] - (double)part[best].max - log_sum);
	score[SCORE_RANK] = (float)(above + 1);
	score[SCORE_BEST] = (float)at;
	score[SCORE_BEST_LOGPROB] = (float)-log_sum;
	return log_sum;
}

double score_row(const float *row, size_t n_vocab, int32_t id, float score[SCORE_COLS])
{
	struct score_part part[FRAME_VOCAB_MAX / SCORE_BLOCK];

	for (size_t b = 0; b < score_parts(n_vocab); b++)
		score_part(row, n_vocab, id, b, &part[b]);
	return score_join(part, row, n_vocab, id, score);
}
