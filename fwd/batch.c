/* Chooses the rows of a batch, and writes its answers. */
#include "batch.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/stream/frame.h"
#include "fwd/plan/split.h"
#include "fwd/state/ids.h"
#include "serve.h"

enum {
	FEW = 16,               /* a frame with at most this many rows counts as decoding */
	BESIDE = 128            /* most rows of prompts beside such frames: enough for speed, and done quickly */
};
/* How long to wait for the sequences of a batch before the next one, as a fraction of the batch's time. The wait begins
 * when the first of them sends a frame, because sequences of one batch come back close together. */
static const double PATIENCE = 0.1;

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

void batch_add(struct serve *v, struct served *q)
{
	if (!v->queue) {
		interrupted = 0;
		v->until = clock_now() + v->patience;
	}
	q->next = NULL;
	*(v->queue ? &v->last->next : &v->queue) = q;
	v->last = q;
	v->queued++;
}

/* Removes answered sequences from the queue, and ends those whose `end ` frame has come. */
static int remove_answered(struct serve *v, struct why *w)
{
	struct served **at = &v->queue, *q;

	v->last = NULL;
	while ((q = *at)) {
		if (served_left(q)) {
			v->last = q;
			at = &q->next;
			continue;
		}
		*at = q->next;
		v->queued--;
		if (q->end_frame.kind) {
			if (serve_ended(v, q, w) < 0)
				return -1;
			continue;
		}
		v->n_awaited += !q->awaited;
		q->awaited = 1;
	}
	return 0;
}

/* ---- which rows ---- */

size_t batch_wanted(const struct serve *v, const struct served *q)
{
	return size_max(q->end - q->after - q->n_answers - (v->score != 0), q->first_logits);
}

static void choose(struct serve *v, struct served *q, size_t n)
{
	size_t end = q->state->length + n, wanted = size_min(end - size_min(batch_wanted(v, q), end), n) - q->after;

	v->run[v->n_runs] = (struct run){ .state = q->state, .n = n, .wanted = wanted, .after = q->after };
	segment_read_ids(q->state, q->state->length, v->ids + v->n_rows, n);
	if (v->score && wanted) {
		int32_t *following = v->following + v->n_wanted;

		following[wanted - 1] = 0;      /* the frame's last id has no successor */
		segment_read_ids(q->state, end - wanted + 1, following, wanted - (end == q->end));
	}
	v->run_of[v->n_runs++] = q;
	v->n_rows += n;
	v->n_wanted += wanted;
}

/* A diffusion model evaluates all rows of a sequence together: as many sequences as fit, in the order of the queue. */
static void choose_whole(struct serve *v)
{
	size_t rows = 0;

	for (struct served *q = v->queue; q && rows + q->end <= v->plan->setup.batch; q = q->next) {
		choose(v, q, served_left(q));
		rows += q->end;
	}
}

static void choose_rows(struct serve *v)
{
	size_t most = v->plan->setup.batch, few = size_min(FEW, most), runs = hidden_sequences(v), n;

	v->n_runs = v->n_rows = v->n_wanted = 0;
	if (v->model->diffusion) {
		choose_whole(v);
		return;
	}
	if (v->hidden.in) {
		for (struct served *q = v->queue; q; q = q->next)
			choose(v, q, served_left(q));
		return;
	}
	/* let the next stage begin before the whole prompt is done */
	if (v->hidden.out)
		most = size_min(most, BESIDE);
	/* the logits of all its rows are one frame, so no other frame may come in between */
	if (v->queue->every && served_left(v->queue) > few) {
		choose(v, v->queue, size_min(served_left(v->queue), most));
		return;
	}
	for (struct served *q = v->queue; q; q = q->next)
		if ((n = served_left(q)) <= few && v->n_rows + n <= most && v->n_runs < runs)
			choose(v, q, n);
	if (v->n_rows)
		most = size_min(most, v->n_rows + BESIDE);
	for (struct served *q = v->queue; q && v->n_rows < most; q = q->next)
		if ((n = served_left(q)) > few && !q->every)
			choose(v, q, size_min(n, most - v->n_rows));
}

/* ---- answers ---- */

/* Writes the header of the answer of a sequence. With `layers` (not the final logits), the whole frame is in this batch
 * (serve.c). */
static int begin_answer(const struct serve *v, struct served *q, size_t layers, struct why *w)
{
	struct frame out = { .kind = v->score ? FRAME_SCORES : FRAME_LOGITS, .rows = q->n_answers,
		.cols = v->score ? SCORE_COLS : (uint32_t)v->model->n_vocab, .type = FRAME_F32,
		.flags = (uint32_t)layers, .pos = (uint32_t)q->end - q->after - q->n_answers,
		.seq = q->sequence.number };

	return (!layers && q->header_written++) || !q->n_answers ? 0 : frame_write_header(v->out, &out, w);
}

/* Computes the answers of the wanted rows [row, row + n). */
static void make_answers(struct serve *v, size_t row, size_t n)
{
	plan_logits(v->plan, row, n, v->logits);
	if (v->score)
		scores_rows(&v->scores, v->logits, v->following + row, n);
}

/* Writes n of the computed answers. With scores, the last id of a frame has none. */
static int write_answers(const struct serve *v, size_t row, size_t n, int last, struct why *w)
{
	const struct frame out = { .type = FRAME_F32 };

	if (v->score)
		return frame_write_elements(v->out, &out, v->scores.score[row], (n - (size_t)last) * SCORE_COLS, w);
	return frame_write_elements(v->out, &out, v->logits + row * v->model->n_vocab, n * v->model->n_vocab, w);
}

/* Whether all rows of its frame have been evaluated. */
static int is_complete(const struct served *q)
{
	return q->end == q->state->length;
}

/* Computes and writes the answers of all wanted rows, after this many layers (0: all), as many rows at a time as there
 * is room for. */
static int answer(struct serve *v, size_t layers, struct why *w)
{
	size_t all = 0, done = 0, made = 0, some;

	for (size_t i = 0; i < v->n_runs; i++)
		all += v->run[i].wanted;
	for (size_t i = 0; i < v->n_runs; i++) {
		if (v->run[i].wanted && begin_answer(v, v->run_of[i], layers, w) < 0)
			return -1;
		for (size_t left = v->run[i].wanted, row; left; left -= some, done += some) {
			row = done % v->rows;
			if (!row)
				make_answers(v, done, made = size_min(all - done, v->rows));
			some = size_min(left, made - row);
			if (write_answers(v, row, some, some == left && is_complete(v->run_of[i]), w) < 0)
				return -1;
		}
	}
	if (all && v->first <= 0)
		v->first = clock_now();
	return 0;
}

/* With --lens, the answers after each layer come first. */
static int answer_all(struct serve *v, struct why *w)
{
	size_t n_layer = v->lens ? v->model->n_layer : 0;

	for (size_t layers = 1; layers < n_layer; layers++) {
		plan_lens(v->plan, layers);
		if (answer(v, layers, w) < 0)
			return -1;
	}
	if (v->lens)
		plan_lens(v->plan, n_layer);
	return answer(v, 0, w);
}

/* Ends the frames of given ids with an `end ` frame. Frames of sampled ids are evaluated again. */
static int end_interrupted(struct serve *v, struct why *w)
{
	for (struct served *q = v->queue; q; q = q->next) {
		if (q->sampled || q->header_written)
			continue;
		q->end = q->ready = q->state->length;
		if (frame_write_end(v->out, FRAME_END_INTERRUPT, (uint32_t)q->end, q->sequence.number, w) < 0)
			return -1;
	}
	interrupted = 0;
	return 0;
}

/* ---- a batch ---- */

/* Not while a frame of logits is being written, because it must be completed. */
static int may_be_cancelled(const struct serve *v)
{
	for (size_t i = 0; !v->all && !v->hidden.in && i < v->n_runs; i++)
		if (!v->run_of[i]->sampled && !v->run_of[i]->header_written)
			return 1;
	return 0;
}

static void count(struct serve *v, double seconds)
{
	for (size_t i = 0; i < v->n_runs; i++) {
		size_t n = v->run[i].n;
		double part = seconds * (double)n / (double)v->n_rows;

		v->evaluated += n;
		*(v->run_of[i]->rows > 1 ? &v->prompt : &v->decode) += n;
		*(v->run_of[i]->rows > 1 ? &v->prompt_seconds : &v->decode_seconds) += part;
	}
}

/* Writes the progress of the frames in the queue, unless all are short. Errors, such as a full disk, are ignored. */
static void write_progress(const struct serve *v)
{
	size_t rows = 0, left = 0;
	char line[48];
	int n;

	for (const struct served *q = v->queue; q; q = q->next)
		if (q->rows > FEW) {
			rows += q->rows;
			left += served_left(q);
		}
	n = snprintf(line, sizeof line, "%zu of %zu\n", rows - left, rows);
	if (rows && pwrite(v->progress, line, (size_t)n, 0) < 0)
		return;
}

int batch_run(struct serve *v, struct why *w)
{
	double began = clock_now(), now;
	int status;

	choose_rows(v);
	v->plan->cancelled = may_be_cancelled(v) ? is_interrupted : NULL;
	if (v->hidden.in)
		split_take(v->plan, 0, v->n_rows, v->hidden.in);
	status = plan_step(v->plan, v->ids, v->run, v->n_runs);
	v->plan->cancelled = NULL;
	if (status == 0 && !v->chain)
		status = v->hidden.out ? hidden_write(v, w) : answer_all(v, w);
	else if (status)
		status = end_interrupted(v, w) < 0 ? -1 : 1;
	now = clock_now();
	if (status == 0)
		count(v, now - began);
	if (v->progress >= 0)
		write_progress(v);
	v->patience = PATIENCE * (now - began);
	v->until = now + v->patience;
	v->hidden.together = v->n_runs;
	v->hidden.n_in = 0;
	if (remove_answered(v, w) < 0)
		return -1;
	if (status == 0 && v->chain && !v->queue)
		status = chain_run(v, v->run_of[0], w);
	return status < 0 ? -1 : 0;
}
