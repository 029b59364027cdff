/* The main loop of fwd: what to do with each frame, and when to read the next one. */
#include "serve.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "fwd/state/fork.h"
#include "fwd/state/ids.h"
#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/size.h"
#include "lib/vocab/vocab.h"

/* The most rows whose logits are computed at once. From about this many on, the products take so much longer than
 * reading and unpacking the output matrix that it does not matter to do the latter again for the next rows. */
enum { HEAD_ROWS = 128 };

/* ---- cards ---- */

/* Makes the card for a stream that came without one. A model without a vocabulary, or with an unsupported kind, has no
 * BOS and no end-of-generation ids. A vocabulary that cannot be opened is an error. */
static int own_card(const struct model *m, struct card *card, struct why *w)
{
	struct why unsupported;
	struct vocab *vocab;

	memset(card, 0, sizeof *card);
	card->bos = -1;
	if (vocab_supported(m->gguf, &unsupported)) {
		vocab = vocab_open(m->gguf, VOCAB_PIECES, w);
		if (!vocab)
			return -1;
		vocab_card(vocab, card);
		vocab_close(vocab);
	}
	card->vocab = m->vocab;
	card->n_vocab = (int32_t)m->n_vocab;
	return 0;
}

/* Writes the card, after adding the model's fingerprint and context. */
static int start(struct serve *v, struct card *card, struct why *w)
{
	v->started = 1;
	card->model = v->hidden.out ? hidden_model(v->model) : v->model->fingerprint;
	card->n_ctx = (int32_t)v->n_ctx;
	card->diffusion = v->model->diffusion;
	card->mask_id = v->model->mask_id;
	card->shifted = v->model->shifted;
	v->card = *card;
	return card_write(v->out, card, w);
}

static int serve_card(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	const struct model *m = v->model;
	struct card card, own = { .vocab = m->vocab, .model = v->hidden.in ? hidden_model(m) : m->fingerprint,
		.n_vocab = (int32_t)m->n_vocab };

	if (card_read(in, f, &card, w) < 0)
		return -1;
	if (v->hidden.in && hidden_check_card(v, &card, w) < 0)
		return frame_why(in, w);
	if (card_agree(&card, in->name, &own, m->gguf->path, w) < 0)
		return -1;
	return v->started ? 0 : start(v, &card, w);
}

/* ---- ids ---- */

/* *pos = where the frame's ids go: after the valid rows or, if the frame has a position, there, replacing the rows from
 * it on. */
static int position(const struct serve *v, const struct served *q, const struct frame *f, size_t *pos, struct why *w)
{
	size_t length = q->state->length;

	*pos = f->pos == FRAME_APPEND ? length : f->pos;
	if (*pos > length)
		return why(w, "position %zu: the sequence has only %zu tokens", *pos, length);
	if (f->rows > v->n_ctx - *pos)
		return why(w, "position %zu: %" PRIu32 " more tokens do not fit the context of %zu (-c); "
			"the model was trained for %zu", *pos, f->rows, v->n_ctx, v->model->n_ctx_train);
	return 0;
}

void serve_reaches(struct serve *v, size_t end)
{
	struct why w;

	if (v->untrained || v->hidden.in || end <= v->model->n_ctx_train)
		return;
	v->untrained = 1;
	why(&w, "%s: %zu tokens of context, but the model was trained for %zu", v->model->gguf->path, end,
		v->model->n_ctx_train);
	v->warn(w.text);
}

static int check_ids(const struct serve *v, size_t n, struct why *w)
{
	for (size_t i = 0; i < n; i++)
		if (card_check_id(v->ids[i], (int32_t)v->model->n_vocab, w))
			return -1;
	return 0;
}

/* Whether logits of every row are wanted. */
static int wants_every(const struct serve *v, const struct frame *f)
{
	return v->all || f->kind == FRAME_CANVAS || (f->flags & FRAME_GUESS && !v->chain);
}

/* The number of ids that need no evaluation because the state already has them. The last id never counts, because its
 * logits are wanted. */
static size_t reusable(const struct serve *v, const struct segment *s, const struct frame *f, size_t pos)
{
	size_t n = f->rows, stored = size_min(n, s->length - pos), i = 0;

	if (!n || (wants_every(v, f) && !v->hidden.in))
		return 0;
	while (i < stored && v->ids[i] == segment_id(s, pos + i))
		i++;
	return i == n && !v->hidden.in ? n - 1 : i;
}

/* Sets the position of the first row that has logits: with an encoder, the last of its text. A frame without that row
 * has no logits, so it is refused unless those of all rows are wanted. */
static int find_text(const struct serve *v, struct served *q, const struct frame *f, size_t pos, struct why *w)
{
	const struct encoder *e = &v->model->encoder;
	size_t i = 0;

	q->first_logits = e->n_layer ? segment_find(q->state, pos, (int32_t)e->end) : 0;
	if (q->first_logits != SIZE_MAX)
		return 0;
	while (i < f->rows && v->ids[i] != (int32_t)e->end)
		i++;
	q->first_logits = pos + i;
	return i < f->rows || !f->rows || wants_every(v, f) ? 0
		: why(w, "the encoder's text must end with token %zu, which tok adds", e->end);
}

/* The number of ids before a frame's that are evaluated again: 1 if the first id of the frame needs a score, which
 * comes from the logits of the id before it. */
static size_t again(const struct serve *v, const struct served *q, const struct frame *f, size_t pos)
{
	return v->score && !v->hidden.in && f->rows && pos > q->first_logits;
}

/* The number of a frame's rows that are answered. The first row with logits has no score. */
static size_t answers(const struct serve *v, const struct served *q, const struct frame *f, size_t pos)
{
	size_t first = size_max(pos, q->first_logits + (v->score != 0)), end = pos + f->rows - q->after;

	return wants_every(v, f) ? end - size_min(first, end) : 1;
}

/* Stores the ids of a frame in the state, except the first `from`, which are there already, and appends the sequence to
 * the queue. */
static void accept(struct serve *v, struct served *q, const struct frame *f, const int32_t *ids, size_t pos,
	size_t from)
{
	q->rows = f->rows;
	q->sampled = f->kind == FRAME_CANVAS || f->flags & FRAME_SAMPLED;
	q->end = q->ready = pos + f->rows;
	q->every = wants_every(v, f);
	q->after = f->kind == FRAME_CANVAS ? f->flags : 0;
	q->n_answers = (uint32_t)answers(v, q, f, pos);
	q->header_written = 0;
	v->reused += from;
	segment_set_length(q->state, pos + from - again(v, q, f, pos));
	segment_write_ids(q->state, pos + from, ids + from, f->rows - from);
	/* later stages need the rows that are evaluated again, too */
	if (f->rows && v->hidden.out && !v->hidden.in)
		segment_set_length(q->state, q->state->next);
	if (v->hidden.in)
		q->ready = q->state->length;
	else if (f->rows)
		batch_add(v, q);
}

int serve_append(struct serve *v, struct served *q, const int32_t *ids, size_t n, struct why *w)
{
	const struct frame f = { .rows = (uint32_t)n };
	size_t pos = q->state->length;

	if (segment_prepare(q->state, pos, n, w) < 0)
		return -1;
	accept(v, q, &f, ids, pos, 0);
	return 0;
}

/* Ends a sequence that has failed: its later frames are skipped, the others continue. Returns -1 if it is sequence 0
 * alone. */
static int fail(struct serve *v, struct frame_in *in, uint32_t number, struct why *w)
{
	struct served *q = served_find(v->served, number);
	struct why cause = *w;
	size_t pos = q ? q->state->length : 0;

	if (!number && v->served->table.n == 1 && !v->served->table.n_over)
		return frame_why(in, w);
	why(w, "sequence %" PRIu32 ": %s", number, cause.text);
	frame_why(in, w);
	v->warn(w->text);
	v->failed++;
	if ((q && served_end(v->served, q, w) < 0) || (number && sequences_end(&v->served->table, number, w) < 0))
		return -1;
	if (!number)
		q->failed = 1;
	return frame_write_end(v->out, FRAME_END_ERROR, (uint32_t)pos, number, w);
}

/* The frame's sequence; starts it if it is new. NULL, with a reason, if it cannot be started. */
static struct served *sequence_of(struct serve *v, const struct frame *f, struct why *w)
{
	struct served *q = served_find(v->served, f->seq);

	q = q ? q : served_add(v->served, f->seq, w);
	if (q)
		served_heard(v->served, q);
	return q;
}

/* With --lens, a frame must fit in one batch, because its logits of each layer are written together. */
static int check_lens(const struct serve *v, const struct frame *f, struct why *w)
{
	size_t batch = v->plan->setup.batch;

	if (!v->lens || !wants_every(v, f) || f->rows <= batch)
		return 0;
	return why(w, "--lens: %" PRIu32 " tokens need a batch of as many, not %zu (-b)", f->rows, batch);
}

static int check_canvas(const struct serve *v, const struct frame *f, struct why *w)
{
	if (f->kind != FRAME_CANVAS || (v->model->diffusion && f->flags < f->rows))
		return 0;
	return why(w, v->model->diffusion ? "a canvas without logits" : "a canvas: not a diffusion model");
}

/* Handles ids or a canvas. Everything is checked before anything is changed. */
static int serve_ids(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct served *q = sequence_of(v, f, w);
	struct frame out = *f;
	size_t pos, from, first;

	if (q && hidden_check_order(v, q, w) < 0)
		return frame_why(in, w);
	if (!q || check_canvas(v, f, w) < 0 || position(v, q, f, &pos, w) < 0 || check_lens(v, f, w) < 0)
		return fail(v, in, f->seq, w);
	if (frame_read(in, f, v->ids, f->rows, w) < 0)
		return -1;
	if (check_ids(v, f->rows, w) < 0 || find_text(v, q, f, pos, w) < 0)
		return fail(v, in, f->seq, w);
	from = reusable(v, q->state, f, pos);
	first = pos + from - again(v, q, f, pos);
	if (v->model->diffusion || (v->model->encoder.n_layer && first <= q->first_logits))
		first = 0;      /* all of the text is evaluated */
	if (segment_prepare(q->state, first, pos + f->rows - first, w) < 0)
		return fail(v, in, f->seq, w);
	serve_reaches(v, pos + f->rows);
	/* a frame that only shortens the state does so even if nobody reads the output any more */
	if (!f->rows)
		accept(v, q, f, v->ids, pos, from);
	out.pos = (uint32_t)pos;
	if (frame_write(v->out, &out, v->ids, w) < 0)
		return -1;
	if (f->rows)
		accept(v, q, f, v->ids, pos, from);
	return 0;
}

static int serve_hidden(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	int status = hidden_take(v, in, f, w);

	return status > 0 ? fail(v, in, f->seq, w) : status;
}

/* ---- the start and the end of a sequence ---- */

/* Starts a sequence as a copy of the first positions of another. */
static int serve_fork(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct served *from = served_find(v->served, v->source), *q;

	if (served_find(v->served, f->seq) || sequences_is_over(&v->served->table, f->seq)) {
		why(w, "sequence %" PRIu32 ": a fork needs an unused number", f->seq);
		return frame_why(in, w);
	}
	if (!from)
		why(w, "fork: sequence %" PRIu32 " does not exist", v->source);
	else if (f->pos > from->state->length)
		why(w, "fork: sequence %" PRIu32 " has only %zu tokens, not %" PRIu32, v->source, from->state->length,
			f->pos);
	else if ((q = sequence_of(v, f, w)) && segment_fork(q->state, from->state, f->pos, w) == 0) {
		q->end = q->ready = f->pos;
		return frame_write(v->out, f, &v->source, w);
	}
	return fail(v, in, f->seq, w);
}

int serve_ended(struct serve *v, struct served *q, struct why *w)
{
	const struct frame f = q->end_frame;

	q->end_frame.kind = 0;
	if (served_end(v->served, q, w) < 0)
		return -1;
	v->finished |= v->no_more && !v->served->n_live;
	return frame_write(v->out, &f, NULL, w);
}

static int serve_end(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct served *q = served_find(v->served, f->seq);
	int status = 0;

	if (v->chain && f->flags == FRAME_END_LENGTH && f->pos != FRAME_APPEND)
		v->bound = f->pos;
	if (q && hidden_check_order(v, q, w) < 0)
		return frame_why(in, w);
	if (q && served_left(q)) {
		q->end_frame = *f;
		return 0;
	}
	if (f->seq == FRAME_NO_SEQ)
		v->no_more = 1;
	else if (q)
		status = served_end(v->served, q, w);
	else if (sequences_is_over(&v->served->table, f->seq))
		return 0;
	else
		status = sequences_end(&v->served->table, f->seq, w);
	return status < 0 ? -1 : frame_copy(in, f, v->out, w);
}

/* ---- any frame ---- */

/* Whether frames of this sequence are to be ignored. */
static int is_over(const struct serve *v, uint32_t number)
{
	return number ? sequences_is_over(&v->served->table, number) : served_find(v->served, 0)->failed;
}

static int serve_frame(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct card card, none = { .model = 0 };

	if (f->kind == FRAME_CARD)
		return serve_card(v, in, f, w);
	if (f->kind == FRAME_LOGITS || f->kind == FRAME_SCORES) {
		why(w, "%s where ids are expected", f->kind == FRAME_LOGITS ? "logits" : "scores");
		return frame_why(in, w);
	}
	if (f->seq && (v->chain || (f->seq == FRAME_NO_SEQ && f->kind != FRAME_END))) {
		why(w, "sequence %" PRIu32 ": %s", f->seq, v->chain ? "--chain has only sequence 0" :
			"only an `end ` frame may have this number");
		return frame_why(in, w);
	}
	if (f->kind == FRAME_HIDDEN && !is_over(v, f->seq))
		return serve_hidden(v, in, f, w);
	if (!v->started && v->hidden.in && hidden_check_card(v, &none, w) < 0)
		return frame_why(in, w);
	if (!v->started && (own_card(v->model, &card, w) < 0 || start(v, &card, w) < 0))
		return -1;
	if (f->kind == FRAME_END)
		return serve_end(v, in, f, w);
	if (f->kind == FRAME_FORK)
		return serve_fork(v, in, f, w);
	if ((f->kind == FRAME_IDS || f->kind == FRAME_CANVAS) && !is_over(v, f->seq))
		return serve_ids(v, in, f, w);
	return 0;
}

/* ---- which frames are answered together ---- */

/* Whether another frame can be read: at once or, with may_wait, before v->until. */
static int has_input(const struct serve *v, const struct frame_in *in, int may_wait)
{
	return in->have - in->used >= FRAME_HEADER || io_readable(in->fd, may_wait ? v->until - clock_now() : 0);
}

/* Whether to read another frame before the next batch: if one is there, or a sequence that was answered is about to
 * send one. A single sequence does not wait. Frames read are passed on, so nothing is read while a frame of logits is
 * being written: its sequence is the first of the queue. */
static int wants_more(const struct serve *v, const struct frame_in *in)
{
	if (v->finished || v->frame_held || (v->queue && v->queue->header_written))
		return 0;
	if (!v->queue)
		return 1;
	if (v->hidden.in)
		return v->hidden.n_in < v->plan->setup.batch && has_input(v, in, v->queued < v->hidden.together);
	return v->queued < v->plan->setup.batch &&
		has_input(v, in, v->served->n_live > 1 && v->n_awaited && v->queued < hidden_sequences(v));
}

/* Reads the header of the next frame, and all of a fork. Its sequence is no longer awaited. */
static int next(struct serve *v, struct frame_in *in, struct why *w)
{
	struct frame *f = &v->frame;
	int status = frame_next(in, f, w);
	struct served *q = status > 0 ? served_find(v->served, f->seq) : NULL;

	if (q && q->awaited) {
		q->awaited = 0;
		v->n_awaited--;
	}
	return status > 0 && f->kind == FRAME_FORK && frame_read(in, f, &v->source, 1, w) < 0 ? -1 : status;
}

/* Whether the queue fills a batch. */
static int is_full(const struct serve *v)
{
	size_t rows = 0;

	for (const struct served *q = v->queue; q; q = q->next)
		rows += served_left(q);
	return rows >= v->plan->setup.batch;
}

/* Whether the next frame ends a sequence while its last ids are still to be evaluated. It then takes effect with the
 * answer, so that the other sequences do not wait; but no more prompts are read than a batch needs, because memory
 * grows with them. With --chain, the answer starts the chain. */
static int ends_later(const struct serve *v, const struct frame *f, const struct served *q)
{
	return f->kind == FRAME_END && !f->rows && !q->end_frame.kind && !v->chain && (q->sampled || !is_full(v));
}

/* Whether a frame of the same sequence must be answered before the next frame is handled. */
static int must_wait(const struct serve *v)
{
	const struct frame *f = &v->frame;
	const struct served *q = served_find(v->served, f->kind == FRAME_FORK ? v->source : f->seq);

	return q && served_left(q) && !ends_later(v, f, q);
}

/* Reads and handles frames until there is something to evaluate, or nothing left to do. Returns 0, or -1 if the stream
 * is invalid. */
static int gather(struct serve *v, struct frame_in *in, struct why *w)
{
	int status;

	while (v->frame_held || wants_more(v, in)) {
		if (!v->frame_held && (status = next(v, in, w)) <= 0) {
			v->finished = 1;
			return status;
		}
		v->frame_held = must_wait(v);
		if (v->frame_held)
			return 0;
		if (serve_frame(v, in, &v->frame, w) < 0)
			return -1;
		v->finished = v->no_more && !v->served->n_live;
	}
	return 0;
}

/* Answers the frames before an invalid one, too. */
int serve(struct serve *v, struct frame_in *in, struct why *w)
{
	struct why failure;
	int status = 0;

	while (!v->finished || v->queue) {
		if (status == 0 && (status = gather(v, in, w)) < 0) {
			failure = *w;
			v->finished = 1;
		}
		if (v->queue && batch_run(v, w) < 0)
			return -1;
	}
	if (status < 0)
		*w = failure;
	return status < 0 ? -1 : hidden_check_end(v, w);
}

/* ---- opening ---- */

int serve_open(struct serve *v, struct why *w)
{
	size_t row_bytes = v->model->n_vocab * sizeof *v->logits, batch = v->plan->setup.batch;

	v->rows = size_min(HEAD_ROWS, batch);
	v->ids = malloc((size_max(v->n_ctx, batch) + 1) * sizeof *v->ids);
	v->logits = malloc(v->rows * row_bytes);
	v->run = malloc(batch * sizeof *v->run);
	v->run_of = malloc(batch * sizeof *v->run_of);
	v->following = malloc(batch * sizeof *v->following);
	if (!v->ids || !v->logits || !v->run || !v->run_of || !v->following)
		return why(w, "out of memory");
	if (v->score && scores_open(&v->scores, v->plan->setup.pool, v->plan->setup.kernels, v->rows,
		v->model->n_vocab, w) < 0)
		return -1;
	return hidden_open(&v->hidden, v->plan, w);
}

void serve_close(struct serve *v)
{
	hidden_close(&v->hidden);
	scores_close(&v->scores);
	free(v->ids);
	free(v->logits);
	free(v->run);
	free(v->run_of);
	free(v->following);
}
