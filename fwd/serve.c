/* The loop of fwd. */
#include "serve.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/size.h"
#include "lib/vocab/vocab.h"

enum { OUT = 1, LOGITS_BYTES = 8 << 20 };       /* memory for logits of several rows */

/* ---- cards ---- */

/* The card of a stream that came without one. A model without a vocabulary, or with one of a kind that is not
 * supported, has no BOS and no end-of-generation ids; one whose vocabulary cannot be opened is an error. */
static int own_card(const struct model *m, struct card *card, struct why *w)
{
	struct vocab *vocab;

	memset(card, 0, sizeof *card);
	card->bos = -1;
	if (vocab_supported(m->gguf)) {
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

/* Writes the card, with the model's fingerprint and context added. */
static int start(struct serve *v, struct card *card, struct why *w)
{
	v->started = 1;
	card->model = v->model->fingerprint;
	card->n_ctx = (int32_t)v->n_ctx;
	v->card = *card;
	return card_write(OUT, card, w);
}

static int serve_card(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	const struct model *m = v->model;
	struct card card, own = { .vocab = m->vocab, .model = m->fingerprint, .n_vocab = (int32_t)m->n_vocab };

	if (card_read(in, f, &card, w) < 0 || card_agree(&card, in->name, &own, m->gguf->path, w) < 0)
		return -1;
	return v->started ? 0 : start(v, &card, w);
}

/* ---- ids ---- */

/* Where the frame's ids go: after the valid rows, or in place of those from the frame's position on. */
static int position(const struct serve *v, const struct frame *f, size_t *pos, struct why *w)
{
	size_t length = v->segment->length;

	*pos = f->pos == FRAME_APPEND ? length : f->pos;
	if (f->seq)
		return why(w, "sequence %" PRIu32 ": there is only sequence 0", f->seq);
	if (*pos > length)
		return why(w, "tokens at position %zu, but the sequence has only %zu", *pos, length);
	if (f->rows > v->n_ctx - *pos)
		return why(w,
			"%" PRIu32 " tokens after %zu do not fit the context of %zu (-c); "
			"the model was trained for %zu",
			f->rows, *pos, v->n_ctx, v->model->n_ctx_train);
	return 0;
}

static int check_ids(const struct serve *v, size_t n, struct why *w)
{
	for (size_t i = 0; i < n; i++)
		if (card_check_id(v->ids[i], (int32_t)v->model->n_vocab, w))
			return -1;
	return 0;
}

/* How many of ids[n] need no evaluation: those that equal what the segment holds, except the last, whose logits are
 * wanted. */
static size_t reusable(const struct serve *v, size_t n, size_t pos)
{
	size_t stored = size_min(n, v->segment->length - pos), i = 0;

	if (v->every)
		return 0;
	while (i < stored && v->ids[i] == segment_id(v->segment, pos + i))
		i++;
	return i == n ? n - 1 : i;
}

/* Writes the logits of the n rows that the last step wanted, as elements of the current frame. */
static int write_logits(struct serve *v, const struct frame *out, size_t n, struct why *w)
{
	size_t some;

	for (size_t row = 0; row < n; row += some) {
		some = size_min(n - row, v->rows);
		plan_logits(v->plan, row, some, v->logits);
		if (frame_write_elements(OUT, out, v->logits, some * v->model->n_vocab, w) < 0)
			return -1;
	}
	if (v->first <= 0)
		v->first = clock_now();
	return 0;
}

static volatile sig_atomic_t interrupted;

void serve_interrupt(int signal)
{
	interrupted = 1;
}

static int is_interrupted(void *context)
{
	return interrupted;
}

/* Evaluates v->ids[from ... n) at pos + from, batch by batch; each batch is valid in the segment once it is complete.
 * 1: it was cancelled. */
static int evaluate(struct serve *v, size_t from, size_t n, size_t pos, struct why *w)
{
	struct segment *s = v->segment;
	size_t some, rows = v->every ? n : 1;
	int begun = 0;
	struct run run = { .state = s };
	struct frame out = { .kind = FRAME_LOGITS, .rows = (uint32_t)rows, .cols = (uint32_t)v->model->n_vocab,
		.type = FRAME_F32, .pos = (uint32_t)(pos + n - rows) };

	segment_set_length(s, pos + from);
	for (size_t i = from; i < n; i += some) {
		some = size_min(n - i, v->plan->setup.batch);
		run.n = some;
		run.wanted = v->every ? some : i + some == n;
		if (plan_step(v->plan, v->ids + i, &run, 1) < 0)
			return 1;
		if (!run.wanted || v->chain)
			continue;
		if (!begun++ && frame_write_header(OUT, &out, w) < 0)
			return -1;
		if (write_logits(v, &out, run.wanted, w) < 0)
			return -1;
	}
	return 0;
}

/* The ids of a frame that has been checked and copied. */
static int answer(struct serve *v, const struct frame *f, size_t pos, struct why *w)
{
	size_t n = f->rows, from, done;
	double began = clock_now();
	int status;

	v->every = v->all || (f->flags & FRAME_GUESS && !v->chain);
	from = reusable(v, n, pos);
	v->plan->cancelled = v->all || f->flags & FRAME_SAMPLED ? NULL : is_interrupted;
	status = evaluate(v, from, n, pos, w);
	v->plan->cancelled = NULL;
	if (status < 0)
		return -1;
	done = v->segment->length - pos - from;
	v->reused += from;
	v->evaluated += done;
	*(n > 1 ? &v->prompt : &v->decode) += done;
	*(n > 1 ? &v->prompt_seconds : &v->decode_seconds) += clock_now() - began;
	if (status)
		return frame_write_end(OUT, FRAME_END_INTERRUPT, (uint32_t)v->segment->length, 0, w);
	return v->chain ? chain_run(v, w) : 0;
}

/* Everything is checked before anything changes. */
static int serve_ids(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	size_t pos;

	interrupted = 0;
	if (position(v, f, &pos, w) < 0)
		return frame_why(in, w);
	if (frame_read(in, f, v->ids, f->rows, w) < 0)
		return -1;
	if (check_ids(v, f->rows, w) < 0 || segment_reserve(v->segment, pos + f->rows, w) < 0)
		return frame_why(in, w);
	if (frame_write_ids(OUT, v->ids, f->rows, (uint32_t)pos, f->flags, 0, w) < 0)
		return -1;
	if (f->rows)
		return answer(v, f, pos, w);
	segment_set_length(v->segment, pos);
	return 0;
}

/* ---- any frame ---- */

static int serve_frame(struct serve *v, struct frame_in *in, const struct frame *f, struct why *w)
{
	struct card card;

	if (f->kind == FRAME_CARD)
		return serve_card(v, in, f, w);
	if (f->kind == FRAME_LOGITS) {
		why(w, "logits where ids are expected");
		return frame_why(in, w);
	}
	if (!v->started && (own_card(v->model, &card, w) < 0 || start(v, &card, w) < 0))
		return -1;
	if (f->kind == FRAME_IDS)
		return serve_ids(v, in, f, w);
	if (f->kind == FRAME_END)
		return frame_copy(in, f, OUT, w);
	return 0;
}

int serve(struct serve *v, struct frame_in *in, struct why *w)
{
	size_t row_bytes = v->model->n_vocab * sizeof *v->logits;
	struct frame f;
	int status;

	v->rows = row_bytes >= LOGITS_BYTES ? 1 : size_min(LOGITS_BYTES / row_bytes, v->plan->setup.batch);
	v->ids = malloc((v->n_ctx + 1) * sizeof *v->ids);
	v->logits = malloc(v->rows * row_bytes);
	if (!v->ids || !v->logits)
		status = why(w, "out of memory");
	else
		while ((status = frame_next(in, &f, w)) > 0 && (status = serve_frame(v, in, &f, w)) == 0)
			;
	free(v->ids);
	free(v->logits);
	return status;
}
