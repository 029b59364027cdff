/* mirostat (Basu et al. 2021, "Mirostat: a neural text decoding algorithm that directly controls perplexity"): controls
 * how many candidates remain so that the surprise of the drawn ids stays near a target. It is the only sampler that
 * depends on earlier draws; the μ after each draw is stored with its position, so that drawing a position again starts
 * from the same μ. */
#include <math.h>
#include <string.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "candidates.h"

enum { FIRST = 1024 };          /* draws there is room for at first */

#define LN2 0.69314718055994531

struct drawn {
	uint32_t position;
	float mu;               /* after it */
};

int mirostat_fork(struct sampler *to, const struct sampler *from)
{
	to->drawn = NULL;
	to->drawn_room = 0;
	while (to->drawn_room < from->n_drawn)
		if (grow(&to->drawn, &to->drawn_room, sizeof *to->drawn, FIRST))
			return -1;
	if (from->n_drawn)
		memcpy(to->drawn, from->drawn, from->n_drawn * sizeof *to->drawn);
	return 0;
}

/* Before the draw for s->position; forgets the draws from there on. */
static float mu(struct sampler *s)
{
	while (s->n_drawn && s->drawn[s->n_drawn - 1].position >= s->position)
		s->n_drawn--;
	return s->n_drawn ? s->drawn[s->n_drawn - 1].mu : 2 * s->params.mirostat_ent;
}

int mirostat_update(struct sampler *s, double p)
{
	float before = mu(s), surprise = (float)(-fmath_log(p) / LN2);
	size_t half = SAMPLER_HISTORY / 2;

	if (s->n_drawn == SAMPLER_HISTORY) {
		memcpy(s->drawn, s->drawn + half, half * sizeof *s->drawn);
		s->n_drawn = half;
	}
	if (s->n_drawn == s->drawn_room && grow(&s->drawn, &s->drawn_room, sizeof *s->drawn, FIRST))
		return -1;
	s->drawn[s->n_drawn++] = (struct drawn){ s->position,
		before - s->params.mirostat_lr * (surprise - s->params.mirostat_ent) };
	return 0;
}

/* How many of the largest version 1 keeps: from the slope of a Zipf law through the first hundred. */
static size_t zipf_k(struct sampler *s, struct candidates *c)
{
	size_t n = topk_sorted(c->logit, c->n, MIROSTAT_TOP, s->at, s->key), i;
	double t, tb = 0, tt = 0, steep, eps, k;

	for (i = 1; i < n; i++) {
		t = fmath_log((double)(i + 1) / (double)i);
		tb += t * ((double)c->logit[s->at[i - 1]] - c->logit[s->at[i]]);
		tt += t * t;
	}
	steep = n > 1 ? tb / tt : 1;
	eps = steep - 1;
	k = eps == 0 ? 1 / fmath_log(s->n_vocab > 1 ? s->n_vocab : 2) : eps / (1 - fmath_pow(s->n_vocab, -eps));
	k *= fmath_pow(2, mu(s));
	k = steep > 0 ? fmath_pow(k, 1 / steep) : k > 1 ? INFINITY : 1;
	return k < 1 ? 1 : k < (double)c->n ? (size_t)k : c->n;
}

void sampler_mirostat(struct sampler *s, struct candidates *c)
{
	float low;

	candidates_drop_masked(c);
	candidates_max(c);
	if (s->params.mirostat == 1) {
		candidates_keep(c, c->logit, topk_threshold(c->logit, NULL, c->n, (double)zipf_k(s, c)));
		return;
	}
	candidates_weigh(c);
	low = (float)(c->max + fmath_log(c->sum) - mu(s) * LN2);
	candidates_keep(c, c->logit,
		low <= c->max ? (struct threshold){ low, SIZE_MAX } : (struct threshold){ c->max, 1 });
}
