/* What each kind of frame does. */
#include "input_frames.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fwd/state/fork.h"
#include "fwd/state/ids.h"
#include "lib/base/size.h"
#include "embeddings.h"
#include "own_opts.h"
#include "question.h"

/* ---- texts ---- */

void input_check_trained(struct input *in, size_t end)
{
	const struct model *m = in->batch->plan->model;
	struct why w;

	if (in->untrained || in->batch->hidden.in || end <= m->n_ctx_train)
		return;
	in->untrained = 1;
	why(&w, "%s: %zu tokens of context, but the model was trained for %zu", m->gguf->path, end, m->n_ctx_train);
	in->warn(w.text);
}

/* The tokens of a text that the frame makes too long for its embedding; 0: it does not. */
static size_t too_long(const struct input *in, const struct text *t)
{
	const struct frame *f = &in->frame;
	size_t end;

	if (!in->batch->answers.embeds || !t || f->kind != FRAME_IDS)
		return 0;
	end = (f->pos == FRAME_APPEND ? t->end : f->pos) + (size_t)f->rows;
	return end > t->state->n_ctx ? end : 0;
}

/* Ends a text that has failed: its later frames are skipped, the others continue. Returns -1 if it is sequence 0
 * alone. */
static int fail(struct input *in, struct why *w)
{
	struct texts *texts = in->batch->texts;
	uint32_t number = in->frame.seq;
	struct text *t = texts_find(texts, number);
	struct why cause = *w;
	size_t pos = t ? t->state->length : 0, tokens = too_long(in, t);

	if (!number && texts->table.n == 1 && !texts->table.n_over)
		return frame_why(&in->in, w);
	why(w, "sequence %" PRIu32 ": %s", number, cause.text);
	frame_why(&in->in, w);
	in->warn(w->text);
	in->failed++;
	if ((t && texts_end(texts, t, w) < 0) || (number && sequences_end(&texts->table, number, w) < 0))
		return -1;
	if (!number)
		t->failed = 1;
	return frame_write_end(in->batch->answers.out, tokens ? FRAME_END_CONTEXT : FRAME_END_ERROR,
		(uint32_t)(tokens ? tokens : pos), number, w);
}

/* Ends a text whose options, or the ids after them, are refused: its later frames are skipped. */
static int refuse(struct input *in, struct text *t, const struct why *reason, struct why *w)
{
	struct texts *texts = in->batch->texts;
	uint32_t number = in->frame.seq;

	if ((t && texts_end(texts, t, w) < 0) || (number && !t && sequences_end(&texts->table, number, w) < 0))
		return -1;
	if (!number)
		t->failed = 1;
	return frame_write_refusal(in->batch->answers.out, reason, number, w);
}

/* The frame's text; starts it if it is new. NULL, with a reason, if it cannot be started. */
static struct text *text_of(struct input *in, struct why *w)
{
	struct texts *texts = in->batch->texts;
	struct text *t = texts_find(texts, in->frame.seq);

	t = t ? t : texts_add(texts, in->frame.seq, NULL, w);
	if (t)
		texts_begin(texts, t);
	return t;
}

int input_lose(struct input *in, uint32_t number, struct why *w)
{
	const struct why cause = *w;

	why(w, "sequence %" PRIu32 ": %s", number, cause.text);
	in->warn(w->text);
	in->failed++;
	return frame_write_refusal(in->batch->answers.out, &cause, number, w);
}

/* ---- ids and options ---- */

/* With --truncate, the ids of a frame that do not fit are left out, but for the last. Later positions count them. */
static void cut(const struct input *in, struct text *t, struct question *q)
{
	struct frame *f = &q->frame;
	size_t end = t->end + t->left_out, n_ctx = t->state->n_ctx, pos = f->pos == FRAME_APPEND ? end : f->pos;

	if (!in->truncate || pos > end || (pos > t->end && pos < end))
		return;
	t->left_out = pos < end ? 0 : t->left_out;
	pos -= t->left_out;
	if (f->rows > n_ctx - pos) {
		f->pos = (uint32_t)size_min(pos, n_ctx - 1);
		f->rows = (uint32_t)(n_ctx - f->pos);
		t->left_out += pos + in->frame.rows - n_ctx;
	}
}

/* Reads the ids of a frame, those that were cut out of it aside. */
static int read_ids(struct input *in, const struct question *q, struct why *w)
{
	uint32_t left_out = in->frame.rows - q->frame.rows, first = left_out ? q->frame.rows - 1 : q->frame.rows;

	if (frame_read(&in->in, &in->frame, in->ids, first, w) < 0)
		return -1;
	return !left_out ? 0 : frame_skip(&in->in, &in->frame, left_out, w) < 0 ? -1
		: frame_read(&in->in, &in->frame, in->ids + first, 1, w);
}

/* Whether a frame is written with its answer, and not before it: a single id of a sampler, which is answered soon. */
static int echoes(const struct batch *b, const struct frame *f)
{
	return f->kind == FRAME_IDS && f->rows == 1 && f->flags == FRAME_SAMPLED && !b->hidden.in && !b->hidden.out
		&& !b->answers.embeds && !b->answers.chained;
}

/* Ids or a canvas. */
static int take_ids(struct input *in, struct why *w)
{
	struct batch *b = in->batch;
	struct frame out;
	struct question q = { .frame = in->frame, .ids = in->ids };
	struct text *t = text_of(in, w);
	struct why reason;

	if (t && hidden_check_order(&b->hidden, t, w) < 0)
		return frame_why(&in->in, w);
	if (t)
		cut(in, t, &q);
	if (!t || question_place(b, t, &q, w) < 0)
		return fail(in, w);
	if (read_ids(in, &q, w) < 0)
		return -1;
	if (t->kept && q.frame.rows && !texts_continues(t, in->ids, q.frame.rows, q.pos, &reason))
		return refuse(in, t, &reason, w);
	if (question_prepare(b, t, &q, w) < 0)
		return fail(in, w);
	input_check_trained(in, q.pos + q.frame.rows);
	/* a frame that only shortens the state does so even if nobody reads the output any more */
	if (!q.frame.rows)
		question_ask(b, t, &q);
	out = q.frame;
	out.pos = (uint32_t)q.pos;
	t->echoes = echoes(b, &out);
	if (!t->echoes && frame_write(b->answers.out, &out, in->ids, w) < 0)
		return -1;
	if (q.frame.rows)
		question_ask(b, t, &q);
	return 0;
}

/* Opens the segment that the sequence, which is t if it exists already, is to continue. */
static int open_named(struct input *in, const struct text *t, const struct own_opts *o, struct why *w)
{
	if (!in->own_kv)
		return why(w, "--kv: not an option of a single sequence without --own-kv");
	if (t)
		return why(w, "--kv: the sequence has a state already");
	return texts_add_named(in->batch->texts, in->frame.seq, o->lora, o->kv, w) ? 0 : why_in(w, "--kv");
}

/* The options of a sequence: which adapters and which segment it has. */
static int take_opts(struct input *in, struct why *w)
{
	struct texts *texts = in->batch->texts;
	struct text *t = texts_find(texts, in->frame.seq);
	struct own_opts o;
	struct why reason;

	if (frame_read_all(&in->in, &in->frame, &in->opts, &in->opts_room, w))
		return -1;
	if (own_opts_read(&o, texts->model, in->opts, in->frame.rows, &reason) < 0
	    || (o.kv && open_named(in, t, &o, &reason) < 0) || (t && texts_adapt(t, o.lora, &reason) < 0))
		return refuse(in, t, &reason, w);
	if (!t && !o.kv && texts->model->n_lora && !texts_add(texts, in->frame.seq, o.lora, w))
		return fail(in, w);
	return frame_write(in->batch->answers.out, &in->frame, in->opts, w);
}

/* ---- hidden states ---- */

static int begin_hidden(struct input *in, struct why *w)
{
	struct batch *b = in->batch;
	struct text *t = texts_find(b->texts, in->frame.seq);
	int status = hidden_begin(&b->hidden, t, &in->frame, w);

	if (status)
		return status < 0 ? frame_why(&in->in, w) : fail(in, w);
	in->partial = t;
	in->left = in->frame.rows;
	return 0;
}

/* Reads as many rows as there is room for in the batch. Returns 1 if a batch must be run before the next. */
static int read_hidden(struct input *in, struct why *w)
{
	struct batch *b = in->batch;
	struct text *t = in->partial;
	int waits, idle;
	long some;

	while (!(waits = hidden_must_wait(&b->hidden, b->queue, t, in->left)) && in->left) {
		idle = !text_left(t);
		if ((some = hidden_read(&b->hidden, t, &in->in, &in->frame, in->left, w)) < 0)
			return -1;
		if (idle)
			batch_add(b, t);
		in->left -= (size_t)some;
	}
	if (waits)
		return 1;
	hidden_end(&b->hidden, t);
	in->partial = NULL;
	return 0;
}

/* ---- forks and ends ---- */

/* Copies the first positions of a text or, for embeddings, only its ids, as nothing was evaluated yet. */
static int fork_text(const struct input *in, struct text *t, struct text *from, struct why *w)
{
	size_t n = in->frame.pos;

	if (!in->batch->answers.embeds) {
		t->end = t->ready = n;
		return segment_fork(t->state, from->state, n, w);
	}
	if (segment_prepare(t->state, 0, n, w) < 0)
		return -1;
	segment_read_ids(from->state, 0, in->ids, n);
	segment_write_ids(t->state, 0, in->ids, n);
	t->end = n;
	return 0;
}

/* Starts a text as a copy of the first positions of another. */
static int take_fork(struct input *in, struct why *w)
{
	struct texts *texts = in->batch->texts;
	const struct frame *f = &in->frame;
	struct text *from = texts_find(texts, in->source), *t;

	if (texts_find(texts, f->seq) || sequences_is_over(&texts->table, f->seq)) {
		why(w, "sequence %" PRIu32 ": a fork needs an unused number", f->seq);
		return frame_why(&in->in, w);
	}
	if (!from)
		why(w, "fork: sequence %" PRIu32 " does not exist", in->source);
	else if (f->pos > batch_length(in->batch, from))
		why(w, "fork: sequence %" PRIu32 " has only %zu tokens, not %" PRIu32, in->source,
			batch_length(in->batch, from), f->pos);
	else if ((t = texts_add(texts, f->seq, from->state->lora, w)) && fork_text(in, t, from, w) == 0) {
		texts_begin(texts, t);
		t->changed = from->changed;
		return frame_write(in->batch->answers.out, f, &in->source, w);
	}
	return fail(in, w);
}

/* With --chain: an `end ` frame that says where the next chain of its sequence must stop. */
static int bound_chain(struct input *in, struct why *w)
{
	const struct frame *f = &in->frame;
	struct texts *texts = in->batch->texts;
	struct text *t;

	if (sequences_is_over(&texts->table, f->seq))
		return 0;
	if (!(t = f->seq ? text_of(in, w) : texts_find(texts, 0)))
		return fail(in, w);
	t->bound = f->pos;
	return frame_copy(&in->in, f, in->batch->answers.out, w);
}

/* Lets a text that has ended be evaluated for its embedding. */
static void ask_embedding(const struct input *in, struct text *t)
{
	if (embeddings_ready(in->batch->plan, t))
		batch_add(in->batch, t);
}

static int take_end(struct input *in, struct why *w)
{
	struct texts *texts = in->batch->texts;
	const struct frame *f = &in->frame;
	struct text *t = texts_find(texts, f->seq);

	if (in->chain && f->seq != FRAME_NO_SEQ && f->flags == FRAME_END_LENGTH && f->pos != FRAME_APPEND)
		return bound_chain(in, w);
	if (t && hidden_check_order(&in->batch->hidden, t, w) < 0)
		return frame_why(&in->in, w);
	if (t && in->batch->answers.embeds && !text_left(t))
		ask_embedding(in, t);
	if (t && text_left(t)) {
		t->end_frame = *f;      /* takes effect with the answer */
		return 0;
	}
	if (f->seq == FRAME_NO_SEQ)
		in->no_more = 1;
	else if (t) {
		if (texts_end(texts, t, w) < 0)
			return input_lose(in, f->seq, w);
	} else if (sequences_is_over(&texts->table, f->seq))
		return 0;
	else if (sequences_end(&texts->table, f->seq, w) < 0)
		return -1;
	return frame_copy(&in->in, f, in->batch->answers.out, w);
}

/* ---- any frame ---- */

/* Refuses frames that no stage before us sends. */
static int check_kind(const struct input *in, struct why *w)
{
	const struct frame *f = &in->frame;

	if (f->kind == FRAME_LOGITS || f->kind == FRAME_SCORES || f->kind == FRAME_EMBEDDINGS) {
		why(w, "%s where ids are expected", f->kind == FRAME_LOGITS ? "logits"
			: f->kind == FRAME_SCORES ? "scores" : "embeddings");
		return frame_why(&in->in, w);
	}
	if (f->kind != FRAME_CARD && f->seq == FRAME_NO_SEQ && f->kind != FRAME_END) {
		why(w, "sequence %" PRIu32 ": only an `end ` frame may have this number", f->seq);
		return frame_why(&in->in, w);
	}
	return 0;
}

/* Whether frames of this sequence are to be ignored. */
static int is_over(const struct texts *texts, uint32_t number)
{
	return number ? sequences_is_over(&texts->table, number) : texts_find(texts, 0)->failed;
}

/* Any frame but hidden states. Those of a text that is over need a card before them, too. */
static int take_any(struct input *in, struct why *w)
{
	uint32_t kind = in->frame.kind;

	if (kind == FRAME_CARD)
		return input_card(in, w);
	if (input_no_card(in, w) < 0)
		return -1;
	if (kind == FRAME_END)
		return take_end(in, w);
	if (kind == FRAME_FORK)
		return take_fork(in, w);
	if (kind == FRAME_OPTS && !is_over(in->batch->texts, in->frame.seq))
		return take_opts(in, w);
	if ((kind == FRAME_IDS || kind == FRAME_CANVAS) && !is_over(in->batch->texts, in->frame.seq))
		return take_ids(in, w);
	return 0;
}

int input_take(struct input *in, struct why *w)
{
	if (in->partial)
		return read_hidden(in, w);
	if (check_kind(in, w) < 0)
		return -1;
	if (in->frame.kind != FRAME_HIDDEN || is_over(in->batch->texts, in->frame.seq))
		return take_any(in, w);
	if (begin_hidden(in, w) < 0)
		return -1;
	return in->partial ? read_hidden(in, w) : 0;
}

int input_end(const struct input *in, struct why *w)
{
	const struct texts *texts = in->batch->texts;
	struct sequence **all = sequences_all(&texts->table, w);

	for (size_t i = 0; all && i < texts->table.n; i++) {
		struct text *t = (struct text *)all[i];

		if (!text_left(t) && !t->failed)
			ask_embedding(in, t);
	}
	free(all);
	return all ? 0 : -1;
}
