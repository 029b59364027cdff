/* The score of a token by a row of logits. */
#include "score.h"

#include <float.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "lib/base/size.h"
#include "topk.h"

/* Logits above t, and those equal to it. */
static void count(const float *x, size_t n, float t, uint32_t *above, uint32_t *equal)
{
	uint32_t more = 0, same = 0;

	for (size_t i = 0; i < n; i++) {
		more += x[i] > t;
		same += x[i] == t;
	}
	*above = more;
	*equal = same;
}

static uint32_t invalid(const float *x, size_t n)
{
	uint32_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += !(x[i] <= FLT_MAX);
	return found;
}

void score_part(const float *row, size_t n_vocab, int32_t id, size_t b, struct score_part *part)
{
	float scratch[SCORE_BLOCK];
	size_t from = b * SCORE_BLOCK, n = size_min(n_vocab - from, SCORE_BLOCK), i = 0;
	size_t before = (size_t)id < from ? 0 : size_min((size_t)id - from, n);
	const float *x = row + from;
	uint32_t same, lower;

	*part = (struct score_part){ .max = topk_max(x, n), .best = -1, .invalid = invalid(x, n) > 0 };
	count(x, before, row[id], &lower, &same);
	part->above = lower + same;
	count(x + before, n - before, row[id], &lower, &same);
	part->above += lower;
	if (!(part->max > -INFINITY))
		return;
	while (!(x[i] >= part->max))
		i++;
	part->best = (int32_t)(from + i);
	part->sum = part->invalid ? 0 : fmath_softmax(x, part->max, scratch, n);
}

double score_join(const struct score_part *part, size_t n_vocab, float logit, float score[SCORE_COLS])
{
	size_t n = score_parts(n_vocab), best = 0, b;
	uint32_t above = 0;
	double sum = 0, log_sum;
	int bad = 0;

	for (b = 0; b < n; b++) {
		bad |= part[b].invalid;
		above += part[b].above;
		if (part[b].max > part[best].max)
			best = b;
	}
	bad |= part[best].best < 0;
	for (b = 0; b < n && !bad; b++)
		if (part[b].best >= 0)
			sum += part[b].sum * (double)fmath_exp(part[b].max - part[best].max);
	log_sum = bad ? NAN : fmath_log(sum);
	score[SCORE_LOGPROB] = (float)((double)logit - (double)part[best].max - log_sum);
	score[SCORE_RANK] = (float)(above + 1);
	score[SCORE_BEST] = (float)(part[best].best < 0 ? 0 : part[best].best);
	score[SCORE_BEST_LOGPROB] = (float)-log_sum;
	return log_sum;
}

double score_row(const float *row, size_t n_vocab, int32_t id, float score[SCORE_COLS])
{
	struct score_part part[FRAME_VOCAB_MAX / SCORE_BLOCK];

	for (size_t b = 0; b < score_parts(n_vocab); b++)
		score_part(row, n_vocab, id, b, &part[b]);
	return score_join(part, n_vocab, row[id], score);
}
