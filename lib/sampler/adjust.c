/* The samplers that change logits and drop no candidates (except a temperature of 0): bias, penalties, temperature. */
#include <float.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "candidates.h"

/* ---- bias ---- */

/* Always the first of the chain, so the row is dense. */
void sampler_bias(struct sampler *s, struct candidates *c)
{
	float *logit;
	size_t i;

	for (i = 0; i < s->params.n_bias; i++) {
		logit = &c->logit[s->bias[i].id];
		*logit += s->bias[i].bias;
		*logit = *logit > FLT_MAX ? FLT_MAX : *logit;
	}
	candidates_changed(c);
}

/* ---- penalties ---- */

static float penalise(const struct sampler_params *p, float logit, int32_t count)
{
	logit = logit <= 0 ? logit * p->repeat : logit / p->repeat;
	return logit - ((float)count * p->frequency + p->presence);
}

void sampler_penalties(struct sampler *s, struct candidates *c)
{
	size_t window = sampler_window(s, s->params.last_n), i;
	const int32_t *last = s->history + s->n_history - window;

	for (i = 0; i < window; i++)
		s->count[last[i]]++;
	candidates_adjust(s, c, last, window, penalise);
}

/* ---- temperature ---- */

/* The dynamic temperature, between T − range and T + range: the higher, the more even the distribution is. */
static float dynamic(const struct sampler_params *p, struct candidates *c)
{
	float low = p->temp > p->temp_range ? p->temp - p->temp_range : 0, high = p->temp + p->temp_range;
	double entropy = candidates_mean_gap(c);

	entropy = (entropy + fmath_log(c->sum)) / fmath_log((double)c->n);
	entropy = entropy < 0 ? 0 : entropy;
	return (float)(low + (high - low) * fmath_pow(entropy, p->temp_exponent));
}

void sampler_temperature(struct sampler *s, struct candidates *c)
{
	float t = s->params.temp;

	if (t <= 0 || s->params.temp_range > 0)
		candidates_settle(c);
	if (s->params.temp_range > 0) {
		candidates_drop_masked(c);
		t = c->n > 1 ? dynamic(&s->params, c) : 1;
	}
	candidates_max(c);
	if (t <= 0)
		candidates_keep(c, c->logit, (struct threshold){ c->max, 1 });
	else if ((s->params.gumbel || !s->params.observe) && s->chain[s->n_chain - 1]->apply == sampler_temperature) {
		s->temp = t;
		c->has_p = c->has_sum = 0;
	} else {
		candidates_settle(c);
		candidates_divide(c, t);
	}
}
