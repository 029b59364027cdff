/* The samplers that change logits and drop nobody. */
#include <float.h>
#include <math.h>

#include "sampler_op.h"

/* ---- bias ---- */

static int bias_active(const struct sampler_params *p)
{
	return p->n_bias > 0;
}

/* Always the first: the row is dense. */
static void bias_apply(struct sampler *s, struct candidates *c)
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

const struct sampler_op sampler_bias = { "bias", bias_active, bias_apply };

/* ---- penalties ---- */

static int penalties_active(const struct sampler_params *p)
{
	return p->last_n && (p->repeat != 1 || p->frequency != 0 || p->presence != 0);
}

static float penalise(const struct sampler_params *p, float logit, int32_t count)
{
	if (logit == -INFINITY)
		return logit;
	logit = logit <= 0 ? logit * p->repeat : logit / p->repeat;
	logit -= (float)count * p->frequency + p->presence;
	return logit > FLT_MAX ? FLT_MAX : logit;
}

/* While the row is dense the work is that of the window, not of the vocabulary. */
static void penalties_apply(struct sampler *s, struct candidates *c)
{
	size_t window = s->params.last_n < 0 || (size_t)s->params.last_n > s->n_history ? s->n_history : (size_t)s->params.last_n, i;
	const int32_t *last = s->history + s->n_history - window;

	for (i = 0; i < window; i++)
		s->count[last[i]]++;
	if (!c->dense)
		for (i = 0; i < c->n; i++)
			if (s->count[c->id[i]])
				c->logit[i] = penalise(&s->params, c->logit[i], s->count[c->id[i]]);
	for (i = 0; i < window; i++) {
		if (c->dense && s->count[last[i]])
			c->logit[last[i]] = penalise(&s->params, c->logit[last[i]], s->count[last[i]]);
		s->count[last[i]] = 0;
	}
	candidates_changed(c);
}

const struct sampler_op sampler_penalties = { "penalties", penalties_active, penalties_apply };

/* ---- temperature ---- */

static int temperature_active(const struct sampler_params *p)
{
	return p->temp != 1;
}

static void temperature_apply(struct sampler *s, struct candidates *c)
{
	float t = s->params.temp;
	size_t i;

	candidates_max(c);
	if (t <= 0) {
		candidates_keep(c, c->logit, (struct cut){ c->max, 1 });
		return;
	}
	/* From the largest down: nothing overflows upwards, however small T is. */
	for (i = 0; i < c->n; i++)
		c->logit[i] = (c->logit[i] - c->max) / t;
	candidates_changed(c);
}

const struct sampler_op sampler_temperature = { "temperature", temperature_active, temperature_apply };
