/* When the next frame is read, and what follows an answer. */
#include "input.h"

#include <stdlib.h>

#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/size.h"
#include "embeddings.h"
#include "input_frames.h"

int input_open(struct input *in, int fd, const char *name, struct why *w)
{
	frame_open_in(&in->in, fd, name);
	in->ids = malloc(in->batch->texts->first->n_ctx * sizeof *in->ids);
	return in->ids ? 0 : why(w, "out of memory");
}

void input_close(struct input *in)
{
	free(in->ids);
	free(in->opts);
}

/* ---- when the next frame is read ---- */

/* Whether another frame can be read: at once or, with may_wait, before batch->until. */
static int has_input(const struct input *in, int may_wait)
{
	return in->in.have - in->in.used >= FRAME_HEADER
		|| io_readable(in->in.fd, may_wait ? in->batch->until - clock_now() : 0);
}

/* Whether to read another frame before the next batch: if one is there, or a text that was answered is about to send
 * one. A single text does not wait. Frames read are passed on, so nothing is read while a frame of logits is being
 * written: its text is the first of the queue. */
static int wants_more(const struct input *in)
{
	const struct batch *b = in->batch;
	size_t n_live = b->texts->n_live;

	/* a chain draws from the row that was evaluated last */
	if (in->finished || (b->queue && (b->queue->header_written || in->chain)))
		return 0;
	if (!b->queue)
		return 1;
	if (b->answers.embeds)
		return !batch_is_full(b) && has_input(in, 0);
	if (b->hidden.in)
		return b->hidden.n_in < b->plan->setup.batch && has_input(in, b->queued < b->hidden.together);
	return b->queued < b->plan->setup.batch
		&& has_input(in, n_live > 1 && b->texts->n_awaited && b->queued < hidden_texts(&b->hidden, n_live));
}

/* Reads the header of the next frame, and all of a fork. Its text is no longer awaited. */
static int next(struct input *in, struct why *w)
{
	struct frame *f = &in->frame;
	int status = frame_next(&in->in, f, w);
	struct text *t = status > 0 ? texts_find(in->batch->texts, f->seq) : NULL;

	if (t)
		texts_heard(in->batch->texts, t);
	return status > 0 && f->kind == FRAME_FORK && frame_read(&in->in, f, &in->source, 1, w) < 0 ? -1 : status;
}

/* Whether the frame ends a text while its last ids are still to be evaluated. It then takes effect with the answer, so
 * that the other texts do not wait; but no more prompts are read than a batch needs, because memory grows with them.
 * What follows the end of a text may be another with its named state. With --chain, the answer starts the chain. */
static int ends_later(const struct input *in, const struct text *t)
{
	const struct frame *f = &in->frame;

	return f->kind == FRAME_END && !f->rows && !t->end_frame.kind && !in->chain && !t->state->name
		&& (t->sampled || !batch_is_full(in->batch));
}

/* Whether a frame of the same text must be answered before this one is handled. */
static int must_wait(const struct input *in)
{
	const struct frame *f = &in->frame;
	const struct text *t = texts_find(in->batch->texts, f->kind == FRAME_FORK ? in->source : f->seq);

	return !in->partial && t && text_left(t) && !ends_later(in, t);
}

/* Reads and handles frames until there is something to evaluate, or nothing left to do. Returns 0, or -1 if the stream
 * is invalid. */
static int gather(struct input *in, struct why *w)
{
	int status;

	while (in->held || wants_more(in)) {
		if (!in->held && (status = next(in, w)) <= 0) {
			in->finished = 1;
			return status == 0 && in->batch->answers.embeds ? input_end(in, w) : status;
		}
		status = must_wait(in) ? 1 : input_take(in, w);
		in->held = status > 0;
		if (status)
			return status < 0 ? -1 : 0;
		in->finished = in->no_more && !in->batch->texts->n_live;
	}
	return 0;
}

/* ---- what follows an answer ---- */

/* Ends a text whose `end ` frame came before its last answer, and writes that frame. */
static int end_text(struct input *in, struct text *t, struct why *w)
{
	struct texts *texts = in->batch->texts;
	const struct frame f = t->end_frame;
	int status;

	t->end_frame.kind = 0;
	if (in->batch->answers.embeds)
		embeddings_reset(t);
	status = texts_end(texts, t, w);
	in->finished |= in->no_more && !texts->n_live;
	return status < 0 ? input_lose(in, f.seq, w) : frame_write(in->batch->answers.out, &f, NULL, w);
}

/* Continues a text with ids drawn here, and ends it. */
static int run_chain(struct input *in, struct text *t, struct why *w)
{
	struct chain *c = in->chain;
	size_t length = t->state->length;
	int reason = chain_begin(c, t->state, t->sequence.number,
		t->bound ? t->bound - size_min(t->bound, length) : SIZE_MAX);

	t->bound = 0;
	while (!reason) {
		reason = chain_chunk(c, t->state, &in->card, w);
		if (reason >= 0)
			input_check_trained(in, t->state->length);
	}
	t->end = t->ready = t->state->length;
	return reason < 0 ? -1 : frame_write_end(c->out, (enum frame_reason)reason, (uint32_t)c->next, c->seq, w);
}

/* Runs a batch. The texts that it answered end, or are awaited. */
static int run_batch(struct input *in, struct why *w)
{
	struct text *t, *following;
	int status = batch_run(in->batch, &t, w), chains = status == 0 && in->chain && !in->batch->queue;

	for (; status >= 0 && t; t = following) {
		following = t->next;
		if (!t->end_frame.kind)
			texts_await(in->batch->texts, t);
		else if (end_text(in, t, w) < 0)
			return -1;
		if (chains && run_chain(in, t, w) < 0)
			return -1;
	}
	return status < 0 ? -1 : 0;
}

/* Answers the frames before an invalid one, too. */
int input_answer(struct input *in, struct why *w)
{
	struct batch *b = in->batch;
	struct why failure;
	int status = 0;

	while (!in->finished || b->queue) {
		if (status == 0 && (status = gather(in, w)) < 0) {
			failure = *w;
			in->finished = 1;
		}
		if (b->queue && run_batch(in, w) < 0)
			return -1;
	}
	if (status < 0)
		*w = failure;
	return status < 0 ? -1 : hidden_check_end(&b->hidden, b->texts, w);
}
