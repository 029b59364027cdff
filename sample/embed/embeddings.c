/* Rows are collected for each sequence. */
#include "embeddings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/size.h"

#define FLOATS_MAX (1ull << 32)         /* of a text */
enum { FLOATS_FEW = 1 << 18 };

struct text {
	struct sequence sequence;
	float *row;             /* [n] floats */
	size_t n, room;
	uint32_t rows, cols;
	enum pooling pooling;
	int over;
	uint32_t reason, tokens;        /* of its end */
};

void embeddings_open(struct embeddings *e, int fd, const char *name)
{
	*e = (struct embeddings){ .next = 1 };
	frame_open_in(&e->in, fd, name);
}

static void free_text(struct sequence *s)
{
	struct text *x = (struct text *)s;

	if (x)
		free(x->row);
	free(x);
}

void embeddings_close(struct embeddings *e)
{
	struct sequence *s;

	free_text(e->last);
	e->last = NULL;
	free(e->left);
	while ((s = sequences_take(&e->sequences)))
		free_text(s);
}

/* The text of that sequence; starts one if it is new. */
static struct text *text_of(struct embeddings *e, uint32_t seq, struct why *w)
{
	struct text *x = (struct text *)sequences_find(&e->sequences, seq);

	if (x)
		return x;
	if (!(x = calloc(1, sizeof *x))) {
		why(w, "out of memory");
		return NULL;
	}
	if (!sequences_add(&e->sequences, &x->sequence, seq, w))
		return x;
	free(x);
	return NULL;
}

/* ---- frames ---- */

/* Reads n floats behind those of the text. Memory follows what has come, not what a header says: there is room for
 * about as much again, or for a few. */
static int read_floats(struct embeddings *e, const struct frame *f, struct text *x, size_t n, struct why *w)
{
	for (size_t part; n; n -= part) {
		size_t room = 2 * x->n;
		float *larger;

		part = size_min(n, size_max(x->n, FLOATS_FEW));
		if (x->n + part > x->room) {
			room = size_max(room, x->n + part);
			if (!(larger = realloc(x->row, room * sizeof *larger)))
				return why(w, "out of memory");
			x->row = larger;
			x->room = room;
		}
		if (frame_read(&e->in, f, x->row + x->n, part, w))
			return -1;
		x->n += part;
	}
	return 0;
}

static int add_rows(struct embeddings *e, const struct frame *f, struct why *w)
{
	struct text *x = text_of(e, f->seq, w);
	uint64_t n = (uint64_t)f->rows * f->cols;

	if (!x)
		return -1;
	if (x->rows && (x->cols != f->cols || x->pooling != (enum pooling)f->flags)) {
		why(w, "sequence %" PRIu32 ": rows of %s, %" PRIu32 " columns, after %s, %" PRIu32, f->seq,
			frame_pooling_name(f->flags), f->cols, frame_pooling_name(x->pooling), x->cols);
		return frame_why(&e->in, w);
	}
	if (x->n + n > FLOATS_MAX || (x->n + n) * sizeof *x->row > SIZE_MAX) {
		why(w, "sequence %" PRIu32 ": rows of more than %llu elements", f->seq, FLOATS_MAX);
		return frame_why(&e->in, w);
	}
	if (read_floats(e, f, x, (size_t)n, w))
		return -1;
	x->rows += f->rows;
	x->cols = f->cols;
	x->pooling = (enum pooling)f->flags;
	return 0;
}

static int end_text(struct embeddings *e, const struct frame *f, struct why *w)
{
	struct text *x = (struct text *)sequences_find(&e->sequences, f->seq);

	if (f->seq == FRAME_NO_SEQ || (!x && !f->seq))
		return 0;
	if (!x && !(x = text_of(e, f->seq, w)))
		return -1;
	x->over = 1;
	x->reason = f->flags;
	x->tokens = f->pos;
	return 0;
}

static int take_card(struct embeddings *e, const struct frame *f, struct why *w)
{
	struct card card;

	if (card_read(&e->in, f, &card, w))
		return -1;
	if (e->has_card)
		return card_agree(&e->card, "the first card", &card, "a later one", w) ? frame_why(&e->in, w) : 0;
	e->card = card;
	e->has_card = 1;
	return 0;
}

static int take_frame(struct embeddings *e, const struct frame *f, struct why *w)
{
	struct text *x = (struct text *)sequences_find(&e->sequences, f->seq);

	if (f->kind == FRAME_CARD)
		return take_card(e, f, w);
	if ((f->seq && sequences_is_over(&e->sequences, f->seq)) || (x && x->over))
		return 0;
	switch (f->kind) {
	case FRAME_EMBEDDINGS: return add_rows(e, f, w);
	case FRAME_END: return end_text(e, f, w);
	case FRAME_LOGITS:
	case FRAME_HIDDEN:
		why(w, "%s in place of embeddings, which fwd --pool makes",
			f->kind == FRAME_LOGITS ? "logits" : "hidden states");
		return frame_why(&e->in, w);
	default: return 0;
	}
}

/* ---- texts ---- */

/* The text to return next, or NULL: all before it have been. */
static struct text *due(struct embeddings *e)
{
	struct text *x = (struct text *)sequences_find(&e->sequences, 0);

	if (!x) {
		while (sequences_is_over(&e->sequences, e->next))
			e->next++;
		x = (struct text *)sequences_find(&e->sequences, e->next);
	}
	return x && x->over ? x : NULL;
}

static void explain(const struct embeddings *e, const struct text *x, struct embedding *to)
{
	const int32_t n_ctx = e->card.n_ctx;

	if (x->reason == FRAME_END_CONTEXT && n_ctx > 0)
		snprintf(to->error, sizeof to->error, "%" PRIu32 " tokens do not fit the context of %" PRId32,
			x->tokens, n_ctx);
	else if (x->reason)
		snprintf(to->error, sizeof to->error, "%s", frame_reason_words(x->reason, 0));
	else
		snprintf(to->error, sizeof to->error, "no tokens");
}

/* Hands out a text. */
static int give(struct embeddings *e, struct text *x, struct embedding *to, struct why *w)
{
	uint32_t seq = x->sequence.number;

	if (sequences_end(&e->sequences, seq, w))
		return -1;
	e->last = &x->sequence;
	*to = (struct embedding){ .row = x->row, .rows = x->rows, .cols = x->cols, .pooling = x->pooling,
		.tokens = x->tokens };
	if (!x->rows)
		explain(e, x, to);
	return 1;
}

/* Hands out the texts that are left at the end of the stream, in order. */
static int give_left(struct embeddings *e, struct embedding *to, struct why *w)
{
	if (!e->left && !(e->left = sequences_all(&e->sequences, w)))
		return -1;
	if (!e->sequences.n)
		return 0;
	return give(e, (struct text *)e->left[e->n_given++], to, w);
}

int embeddings_next(struct embeddings *e, struct embedding *to, struct why *w)
{
	struct frame f;
	struct text *x;
	int got = 1;

	free_text(e->last);
	e->last = NULL;
	while (got && !(x = due(e)))
		if ((got = frame_next(&e->in, &f, w)) < 0 || (got && take_frame(e, &f, w)))
			return -1;
	return got ? give(e, x, to, w) : give_left(e, to, w);
}
