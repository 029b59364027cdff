/* N texts from one prompt. */
#include "best.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "relay.h"

struct text {
	struct result r;        /* its prompt is borrowed */
	int64_t seed;
	double score;
};

static int better(const void *a, const void *b)
{
	const struct text *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->seed < y->seed ? -1 : 1;
}

static int generate(struct loop *l, struct request *q, struct relay *y, struct text *t, int i, struct why *w)
{
	t->seed = q->seed + i;
	snprintf(q->seed_text, sizeof q->seed_text, "%" PRId64, t->seed);
	if ((i && loop_sample(l, q, w)) || relay_turn(y, &t->r, NULL, w) < 0)
		return -1;
	if (!t->r.reason)
		return why(w, "sample ended before the text did");
	t->score = result_logprob(&t->r) / pow((double)t->r.ids.n, q->penalty);
	return 0;
}

/* On to detok, as if it had just been generated. */
static int show(const struct loop *l, const struct text *t, struct why *w)
{
	const struct result *r = &t->r;
	uint32_t pos = (uint32_t)r->prompt.n, n = (uint32_t)r->ids.n;
	struct why ignored;

	if (frame_write_ids(l->to_detok, r->ids.id, n, pos, FRAME_SAMPLED, 0, w))
		return -1;
	/* A detok that ends at a stop string has done so. */
	return frame_write_end(l->to_detok, (enum frame_reason)r->reason, pos + n, 0, r->stop ? &ignored : w) && !r->stop ? -1 : 0;
}

static int show_all(const struct loop *l, const struct request *q, const struct text *t, struct why *w)
{
	int n = q->all ? q->best_of : 1;

	for (int i = 0; i < n; i++) {
		if (q->verbose)
			fprintf(stderr, "seed %" PRId64 ": log-probability %.4f, %zu ids, score %.4f\n", t[i].seed, result_logprob(&t[i].r), t[i].r.ids.n, t[i].score);
		if (l->to_detok >= 0 && show(l, &t[i], w))
			return -1;
	}
	return 0;
}

/* The best is the caller's from now on. */
static void keep(struct request *q, struct result *r, struct text *t)
{
	struct ids prompt = r->prompt;

	*r = t[0].r;
	r->prompt = prompt;
	q->seed = t[0].seed;
	t[0].r = (struct result){ 0 };
}

int best(struct loop *l, struct request *q, struct result *r, struct why *w)
{
	struct text *t = calloc((size_t)q->best_of, sizeof *t);
	int to_detok = l->to_detok, status;
	struct relay relay;

	status = relay_open(&relay, l, &r->prompt, w) || (!t && why(w, "out of memory")) ? -1 : 0;
	l->to_detok = -1;
	for (int i = 0; i < q->best_of && !status; i++) {
		t[i].r.prompt = r->prompt;
		t[i].r.passes = r->passes;
		status = generate(l, q, &relay, &t[i], i, w);
	}
	l->to_detok = to_detok;
	relay_close(&relay);
	if (!status) {
		qsort(t, (size_t)q->best_of, sizeof *t, better);
		status = show_all(l, q, t, w);
	}
	if (!status)
		keep(q, r, t);
	for (int i = 0; t && i < q->best_of; i++) {
		t[i].r.prompt = (struct ids){ 0 };
		result_free(&t[i].r);
	}
	free(t);
	return status;
}
