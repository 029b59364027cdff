/* The figures of two streams, by the definitions of llama-perplexity --kl-divergence. */
#include "against.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "lib/base/members.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/sampler/score.h"
#include "perplexity.h"

/* ---- one prediction ---- */

static int keep(struct values *v, double x, struct why *w)
{
	if (v->n == v->room && grow(&v->x, &v->room, sizeof *v->x, 4096) < 0)
		return why(w, "out of memory for %zu predictions", v->n);
	v->x[v->n++] = (float)x;
	return 0;
}

/* The sum of p · (ln p − ln q); p, q: softmax of the two rows. Logits of −infinity have no part in it unless p has. */
static double divergence(const struct position *base, const struct position *other)
{
	float weight[SCORE_BLOCK], max = base->row[(size_t)base->score[SCORE_BEST]];
	double shift = (double)other->row[(size_t)other->score[SCORE_BEST]] - (double)max + (other->log_sum
		- base->log_sum);
	double sum = 0;
	size_t n;

	for (size_t from = 0; from < base->n_vocab; from += n) {
		n = size_min(base->n_vocab - from, SCORE_BLOCK);
		fmath_softmax(base->row + from, max, weight, n);
		for (size_t i = 0; i < n; i++)
			if (weight[i] > 0)
				sum += (double)weight[i] * ((double)base->row[from + i] - (double)other->row[from + i]
					+ shift);
	}
	sum *= exp(-base->log_sum);
	return sum > 0 ? sum : 0;       /* rounding may leave a trace below */
}

static double largest_difference(const float *a, const float *b, size_t n)
{
	double most = 0, d;

	for (size_t i = 0; i < n; i++) {
		d = a[i] < b[i] || a[i] > b[i] ? fabs((double)a[i] - (double)b[i]) : 0;
		most = d > most ? d : most;
	}
	return most;
}

/* Whether the bits are those of the other prediction, and how far apart. */
static void note_difference(struct against *a, const struct position *base, const struct position *other)
{
	const float *x = a->rows ? base->row : base->score, *y = a->rows ? other->row : other->score;
	size_t n = a->rows ? base->n_vocab : SCORE_COLS;
	double d = a->rows ? largest_difference(x, y, n) : largest_difference(x, y, 1);

	a->most = d > a->most ? d : a->most;
	if (a->differ || !memcmp(x, y, n * sizeof *x))
		return;
	a->differ = 1;
	a->seq = base->seq;
	a->pos = base->pos;
}

static int add(struct against *a, const struct position *base, const struct position *other, struct why *w)
{
	double kl = a->rows ? divergence(base, other) : 0, log_base, log_other, delta;

	a->compared++;
	a->same_best += (size_t)base->score[SCORE_BEST] == (size_t)other->score[SCORE_BEST];
	mean_add(&a->kl, kl);
	if (a->rows && keep(&a->kls, kl, w) < 0)
		return -1;
	if (base->id < 0)
		return 0;
	log_base = (double)base->score[SCORE_LOGPROB];
	log_other = (double)other->score[SCORE_LOGPROB];
	delta = exp(log_other) - exp(log_base);
	mean_add(&a->nll, -log_other);
	mean_add(&a->base_nll, -log_base);
	mean_add(&a->ratio, log_base > -INFINITY || log_other > -INFINITY ? log_base - log_other : 0);
	mean_add(&a->delta, delta);
	mean_add(&a->delta_squares, delta * delta);
	return keep(&a->deltas, delta, w);
}

/* ---- the figures ---- */

static int compare(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Of sorted values; between two of them in proportion. NaN of none. */
static double percentile(const struct values *v, double fraction)
{
	double at = fraction * (double)(v->n - 1);
	size_t i = (size_t)(v->n ? at : 0);

	if (!v->n)
		return NAN;
	if (i + 1 >= v->n || !(at > (double)i))
		return (double)v->x[i];
	return (1 - (at - (double)i)) * (double)v->x[i] + (at - (double)i) * (double)v->x[i + 1];
}

static void put_first(const struct against *a, struct figures *f)
{
	if (f->as_json) {
		member_flag(&f->json, "same", !a->differ);
		figures_number(&f->json, "first_sequence", a->differ ? a->seq : NAN);
		figures_number(&f->json, "first_position", a->differ ? a->pos : NAN);
		return;
	}
	figures_name("first difference");
	if (!a->differ)
		out_text("none");
	else
		out_print("position %" PRIu32, a->pos);
	if (a->differ && a->seq)
		out_print(" of sequence %" PRIu32, a->seq);
	out_char('\n');
}

static void put_figures(struct against *a)
{
	double n = (double)a->compared, top = (double)a->same_best / n, top_error = sqrt(top * (1 - top) / (n - 1));
	double rms = sqrt(mean_of(&a->delta_squares)), base = exp(mean_of(&a->base_nll)), other = exp(mean_of(&a->nll));
	double none = NAN, kl = a->rows ? mean_of(&a->kl) : none;
	const struct figure all[] = {
		{ "predictions", "predictions", "", n, -1, 0 },
		{ a->rows ? "max_logit" : "max_logprob", a->rows ? "max |Δ logit|" : "max |Δ log p|", "", a->most, -1,
		  6 },
		{ "kl_mean", "KL mean", "nats", kl, mean_error(&a->kl), 6 },
		{ "kl_median", "KL median", "", percentile(&a->kls, 0.5), -1, 6 },
		{ "kl_99", "KL 99 %", "", percentile(&a->kls, 0.99), -1, 6 },
		{ "kl_99_9", "KL 99.9 %", "", percentile(&a->kls, 0.999), -1, 6 },
		{ "kl_max", "KL max", "", percentile(&a->kls, 1), -1, 6 },
		{ "same_first", "same most likely", "%", 100 * top, 100 * top_error, 3 },
		{ "delta_p_mean", "Δp mean", "%", 100 * mean_of(&a->delta), 100 * mean_error(&a->delta), 3 },
		{ "delta_p_rms", "Δp RMS", "%", 100 * rms,
		  rms > 0 ? 100 * 0.5 / rms * mean_error(&a->delta_squares) : none, 3 },
		{ "delta_p_1", "Δp 1 %", "%", 100 * percentile(&a->deltas, 0.01), -1, 3 },
		{ "delta_p_99", "Δp 99 %", "%", 100 * percentile(&a->deltas, 0.99), -1, 3 },
		{ "perplexity", "perplexity", "", other, other * mean_error(&a->nll), 4 },
		{ "base_perplexity", "of the base", "", base, base * mean_error(&a->base_nll), 4 },
		{ "ln_ratio", "ln of their ratio", "", mean_of(&a->ratio), mean_error(&a->ratio), 6 },
	};
	struct figures f;

	figures_start(&f, a->as_json);
	put_first(a, &f);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		figures_put(&f, &all[i]);
	figures_end(&f);
}

/* ---- two streams ---- */

/* The next prediction of each. 1; 0: both have ended; -1. */
static int next(struct against *a, struct positions *in[2], struct position at[2], struct why *w)
{
	int got = positions_next(in[0], &at[0], w), other = got < 0 ? -1 : positions_next(in[1], &at[1], w);
	const char *names[2] = { in[0]->in.name, in[1]->in.name };

	if (got < 0 || other < 0)
		return -1;
	if (in[0]->carded && in[1]->carded
	    && (in[0]->card.vocab != in[1]->card.vocab || in[0]->card.n_vocab != in[1]->card.n_vocab))
		return why(w, "%s, %s: streams of different vocabularies", names[0], names[1]);
	if (got != other)
		return why(w, "%s: ends before %s does", names[got > 0], names[got == 0]);
	if (!got)
		return 0;
	if (at[0].seq != at[1].seq || at[0].pos != at[1].pos)
		return why(w, "%s: position %" PRIu32 " of sequence %" PRIu32 ", where %s has %" PRIu32 " of %" PRIu32,
			names[0], at[0].pos, at[0].seq, names[1], at[1].pos, at[1].seq);
	if (at[0].id != at[1].id)
		return why(w, "position %" PRIu32 ": token %" PRId32 " in %s, %" PRId32 " in %s", at[0].pos, at[0].id,
			names[0], at[1].id, names[1]);
	if (!at[0].row != !at[1].row)
		return why(w, "%s: scores, where %s has logits", names[!at[1].row], names[!at[0].row]);
	if (at[0].n_vocab != at[1].n_vocab)
		return why(w, "%s: rows of %zu logits, where %s has rows of %zu", names[0], at[0].n_vocab, names[1],
			at[1].n_vocab);
	a->rows = at[0].row != NULL;
	return 1;
}

int against_run(struct against *a, struct positions *base, struct positions *other, struct why *w)
{
	struct positions *in[2] = { base, other };
	struct position at[2];
	int status;

	while ((status = next(a, in, at, w)) > 0) {
		if (!perplexity_counts(a->chunk, at[0].pos) || (a->chunk && at[0].id < 0))
			continue;
		note_difference(a, &at[0], &at[1]);
		if ((status = add(a, &at[0], &at[1], w)) < 0)
			break;
	}
	if (status == 0 && !a->compared)
		status = why(w, "%s, %s: no predictions to compare", base->in.name, other->in.name);
	if (status == 0) {
		if (a->kls.n)   /* scores have none */
			qsort(a->kls.x, a->kls.n, sizeof *a->kls.x, compare);
		qsort(a->deltas.x, a->deltas.n, sizeof *a->deltas.x, compare);
		put_figures(a);
	}
	free(a->kls.x);
	free(a->deltas.x);
	return status < 0 ? -1 : a->differ;
}
