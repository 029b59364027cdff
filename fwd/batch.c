/* Chooses the rows of a batch, evaluates them, and has their answers written. */
#include "batch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/stream/frame.h"
#include "fwd/plan/split.h"
#include "fwd/state/ids.h"
#include "embeddings.h"

enum {
	FEW = 16,               /* frames with at most this many rows left go first, and write no progress */
	BESIDE = 128            /* most rows of prompts beside such frames: enough for speed, and done quickly */
};
/* How long to wait for the texts of a batch before the next one, as a fraction of the batch's time. The wait begins
 * when the first of them sends a frame, because texts of one batch come back close together. */
static const double PATIENCE = 0.1;

int batch_open(struct batch *b, struct why *w)
{
	size_t batch = b->plan->setup.batch;
	struct batch_rows *r = &b->rows;

	r->ids = malloc(batch * sizeof *r->ids);
	r->run = malloc(batch * sizeof *r->run);
	r->text = malloc(batch * sizeof *r->text);
	r->following = malloc(batch * sizeof *r->following);
	if (!r->ids || !r->run || !r->text || !r->following)
		return why(w, "out of memory");
	return hidden_open(&b->hidden, b->plan, w) < 0 ? -1 : answers_open(&b->answers, b->plan, w);
}

void batch_close(struct batch *b)
{
	answers_close(&b->answers);
	hidden_close(&b->hidden);
	free(b->rows.ids);
	free(b->rows.run);
	free(b->rows.text);
	free(b->rows.following);
}

/* ---- the queue ---- */

static volatile sig_atomic_t interrupted;

void batch_interrupt(int signal)
{
	interrupted = 1;
}

static int is_interrupted(void *context)
{
	return interrupted;
}

void batch_add(struct batch *b, struct text *t)
{
	if (!b->queue) {
		interrupted = 0;
		b->until = clock_now() + b->patience;
	}
	t->next = NULL;
	*(b->queue ? &b->tail->next : &b->queue) = t;
	b->tail = t;
	b->queued++;
}

static size_t most_rows(const struct batch *b)
{
	size_t batch = b->plan->setup.batch;

	return plan_takes_whole_texts(b->plan) ? size_min(b->most, batch) : batch;
}

int batch_is_full(const struct batch *b)
{
	size_t rows = 0;

	for (const struct text *t = b->queue; t; t = t->next)
		rows += text_left(t);
	return rows >= most_rows(b);
}

/* Moves the texts without rows left to a list of their own, and returns it. */
static struct text *take_answered(struct batch *b)
{
	struct text *answered = NULL, **end = &answered, **at = &b->queue, *t;

	b->tail = NULL;
	while ((t = *at)) {
		if (text_left(t)) {
			b->tail = t;
			at = &t->next;
			continue;
		}
		*at = t->next;
		b->queued--;
		t->next = NULL;
		*end = t;
		end = &t->next;
	}
	return answered;
}

/* ---- which rows ---- */

static void choose(struct batch *b, struct text *t, size_t n)
{
	struct batch_rows *r = &b->rows;
	size_t end = t->state->length + n, wanted = size_min(end - size_min(t->wanted, end), n) - t->after;

	r->run[r->n_runs] = (struct run){ .state = t->state, .n = n, .wanted = wanted, .after = t->after };
	segment_read_ids(t->state, t->state->length, r->ids + r->n, n);
	if (b->answers.score && wanted) {
		int32_t *following = r->following + r->n_wanted;

		following[wanted - 1] = 0;      /* the frame's last id has no successor */
		segment_read_ids(t->state, end - wanted + 1, following, wanted - (end == t->end));
	}
	r->text[r->n_runs++] = t;
	r->n += n;
	r->n_wanted += wanted;
}

/* Whole texts: as many as fit, in the order of the queue; at least one. */
static void choose_whole(struct batch *b)
{
	size_t rows = 0, most = most_rows(b);

	for (struct text *t = b->queue; t && (!rows || rows + t->end <= most); t = t->next) {
		choose(b, t, text_left(t));
		rows += t->end;
	}
}

static void choose_all(struct batch *b)
{
	for (struct text *t = b->queue; t; t = t->next)
		choose(b, t, text_left(t));
}

/* The frames with few rows, as many as fit, and then a part of the others. */
static void choose_some(struct batch *b, size_t most)
{
	size_t few = size_min(FEW, most), runs = hidden_texts(&b->hidden, b->texts->n_live), n;

	for (struct text *t = b->queue; t; t = t->next)
		if ((n = text_left(t)) <= few && b->rows.n + n <= most && b->rows.n_runs < runs)
			choose(b, t, n);
	if (b->rows.n)
		most = size_min(most, b->rows.n + BESIDE);
	for (struct text *t = b->queue; t && b->rows.n < most; t = t->next)
		if ((n = text_left(t)) > few && !t->every)
			choose(b, t, size_min(n, most - b->rows.n));
}

static void choose_rows(struct batch *b)
{
	struct text *first = b->queue;
	size_t batch = b->plan->setup.batch;
	/* let the next stage begin before the whole prompt is done */
	size_t most = b->hidden.out ? size_min(batch, BESIDE) : batch;

	b->rows.n = b->rows.n_runs = b->rows.n_wanted = 0;
	if (plan_takes_whole_texts(b->plan))
		choose_whole(b);
	else if (b->hidden.in)
		choose_all(b);
	/* the logits of all its rows are one frame, so no other frame may come in between */
	else if (first->every && text_left(first) > size_min(FEW, batch))
		choose(b, first, size_min(text_left(first), most));
	else
		choose_some(b, most);
}

/* ---- a batch ---- */

/* Not while a frame of logits is being written, because it must be completed. */
static int may_be_cancelled(const struct batch *b)
{
	for (size_t i = 0; !b->answers.every && !b->hidden.in && i < b->rows.n_runs; i++)
		if (!b->rows.text[i]->sampled && !b->rows.text[i]->header_written)
			return 1;
	return 0;
}

/* Evaluates the rows. Returns -1 if it was cancelled. */
static int evaluate(struct batch *b)
{
	int status;

	b->plan->cancelled = may_be_cancelled(b) ? is_interrupted : NULL;
	if (b->hidden.in)
		split_take(b->plan, 0, b->rows.n, b->hidden.in);
	status = plan_step(b->plan, b->rows.ids, b->rows.run, b->rows.n_runs);
	b->plan->cancelled = NULL;
	return status;
}

static int write_answers(struct batch *b, struct why *w)
{
	if (b->answers.chained)
		return 0;
	if (b->hidden.out)
		return hidden_write(&b->hidden, b->answers.out, &b->rows, w);
	if ((b->answers.embeds ? embeddings_write(b->plan, b->answers.out, &b->rows, w)
	    : answers_write(&b->answers, &b->rows, w)) < 0)
		return -1;
	if (b->rows.n_wanted)
		report_answered(b->report);
	return 0;
}

/* Ends the frames of given ids with an `end ` frame. Frames of sampled ids are evaluated again. */
static int end_interrupted(struct batch *b, struct why *w)
{
	for (struct text *t = b->queue; t; t = t->next) {
		if (t->sampled || t->header_written)
			continue;
		t->end = t->ready = t->state->length;
		if (frame_write_end(b->answers.out, FRAME_END_INTERRUPT, (uint32_t)t->end, t->sequence.number, w) < 0)
			return -1;
	}
	interrupted = 0;
	return 0;
}

static void count(const struct batch *b, double seconds)
{
	const struct batch_rows *r = &b->rows;

	for (size_t i = 0; i < r->n_runs; i++)
		report_evaluated(b->report, r->text[i]->rows <= 1, r->run[i].n,
			seconds * (double)r->run[i].n / (double)r->n);
}

/* Writes the progress of the frames in the queue, unless all are short. Errors, such as a full disk, are ignored. */
static void write_progress(const struct batch *b)
{
	size_t rows = 0, left = 0;
	char line[48];
	int n;

	for (const struct text *t = b->queue; t; t = t->next)
		if (t->rows > FEW) {
			rows += t->rows;
			left += text_left(t);
		}
	n = snprintf(line, sizeof line, "%zu of %zu\n", rows - left, rows);
	if (rows && pwrite(b->progress, line, (size_t)n, 0) < 0)
		return;
}

int batch_run(struct batch *b, struct text **answered, struct why *w)
{
	double began = clock_now(), now;
	int cancelled;

	*answered = NULL;
	choose_rows(b);
	cancelled = evaluate(b) < 0;
	if ((cancelled ? end_interrupted(b, w) : write_answers(b, w)) < 0)
		return -1;
	now = clock_now();
	if (!cancelled)
		count(b, now - began);
	if (b->progress >= 0)
		write_progress(b);
	b->patience = PATIENCE * (now - began);
	b->until = now + b->patience;
	b->hidden.together = b->rows.n_runs;
	b->hidden.n_in = 0;
	*answered = take_answered(b);
	return cancelled;
}
