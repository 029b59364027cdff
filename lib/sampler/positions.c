/* Reading predictions. The last row of a frame is kept until the next frame of ids of its sequence. */
#include "positions.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "score.h"
#include "lib/stream/ids.h"

struct predicted {
	struct sequence sequence;
	uint32_t pos;                   /* position of the latest frame of ids */
	struct ids ids;                 /* that frame */
	float *kept;                    /* [room]: the row after its last id; its token has not come yet */
	size_t room, cols;              /* cols 0: no row is kept */
	uint32_t told;                  /* ids of the frame that have been returned */
};

void positions_open(struct positions *p, int fd, const char *name)
{
	*p = (struct positions){ .carded = 0 };
	frame_open_in(&p->in, fd, name);
}

static void free_sequence(struct predicted *s)
{
	if (!s)
		return;
	free(s->ids.id);
	free(s->kept);
	free(s);
}

void positions_close(struct positions *p)
{
	struct sequence *s;

	while ((s = sequences_take(&p->open)))
		free_sequence((struct predicted *)s);
	free_sequence(p->over);
	free(p->logits);
}

/* The entry of the frame's sequence; makes a new one if necessary. NULL: out of memory. */
static struct predicted *find(struct positions *p, struct why *w)
{
	struct predicted *s = (struct predicted *)sequences_find(&p->open, p->f.seq);

	if (s)
		return s;
	if (!(s = calloc(1, sizeof *s)))
		why(w, "out of memory");
	else if (sequences_add(&p->open, &s->sequence, p->f.seq, w) == 0)
		return s;
	free(s);
	return NULL;
}

static int fault(const struct positions *p, uint32_t pos, const char *cause, struct why *w)
{
	why(w, "position %" PRIu32 ": %s", pos, cause);
	return frame_why(&p->in, w);
}

/* The id at a position of the latest frame of ids; -1: the frame does not reach there. */
static int32_t token_at(const struct predicted *s, uint32_t pos)
{
	return pos >= s->pos && pos - s->pos < s->ids.n ? s->ids.id[pos - s->pos] : -1;
}

/* Completes *out, whose seq, pos, row and n_vocab are set, for this id, or -1. Returns 1, or -1 on error. */
static int found(const struct positions *p, struct position *out, int32_t id, struct why *w)
{
	out->id = id;
	out->predicted = 1;
	if (id >= 0 && card_check_id(id, (int32_t)out->n_vocab, w))
		return frame_why(&p->in, w);
	out->log_sum = score_row(out->row, out->n_vocab, id < 0 ? 0 : id, out->score);
	return isnan(out->log_sum) ? fault(p, out->pos, "logits of NaN or infinity", w) : 1;
}

/* If id, the token at pos, is what the row kept in s predicts: sets *out to that prediction. */
static int waiting(const struct positions *p, struct predicted *s, uint32_t pos, int32_t id, struct position *out,
	struct why *w)
{
	*out = (struct position){ .seq = s->sequence.number, .pos = pos, .row = s->kept, .n_vocab = s->cols };
	s->cols = 0;
	return found(p, out, id, w);
}

/* The row kept in s, if its token will not come. Returns 0 if no row is kept. */
static int left_over(const struct positions *p, struct predicted *s, struct position *out, struct why *w)
{
	return s && s->cols ? waiting(p, s, s->pos + (uint32_t)s->ids.n, -1, out, w) : 0;
}

/* Reads the next row of logits. Returns 0 if it was kept because its token is not known yet. The next call may
 * overwrite the row. */
static int read_logits(struct positions *p, struct position *out, struct why *w)
{
	struct predicted *s = find(p, w);
	uint32_t pos = p->f.pos + p->row + 1, end;
	float **row = &p->logits;
	size_t *room = &p->room;

	if (!s)
		return -1;
	end = s->pos + (uint32_t)s->ids.n;
	if (pos == end && s->ids.n) {
		row = &s->kept;
		room = &s->room;
	}
	if (grow_scratch(row, room, p->f.cols * sizeof **row) < 0)
		return why(w, "out of memory for rows of %" PRIu32 " logits", p->f.cols);
	if (frame_read_floats(&p->in, &p->f, *row, p->f.cols, w) < 0)
		return -1;
	p->row++;
	if (row == &s->kept) {
		s->cols = p->f.cols;
		return 0;
	}
	*out = (struct position){ .seq = p->f.seq, .pos = pos, .row = *row, .n_vocab = p->f.cols };
	return found(p, out, token_at(s, pos), w);
}

/* How many ids there may be. */
static int32_t n_ids(const struct positions *p)
{
	return p->carded ? p->card.n_vocab : FRAME_VOCAB_MAX;
}

static int read_score(struct positions *p, struct position *out, struct why *w)
{
	const struct predicted *s = find(p, w);
	const float *score = out->score;

	*out = (struct position){ .seq = p->f.seq, .pos = p->f.pos + p->row };
	if (!s || frame_read(&p->in, &p->f, out->score, SCORE_COLS, w) < 0)
		return -1;
	p->row++;
	out->id = token_at(s, out->pos);
	out->predicted = 1;
	if (out->id < 0)
		return fault(p, out->pos, "a score, but no token before it in the stream", w);
	if (isnan(score[SCORE_LOGPROB]))
		return fault(p, out->pos, "logits of NaN or infinity", w);
	if (!(score[SCORE_LOGPROB] <= 0 && score[SCORE_RANK] >= 1 && score[SCORE_RANK] <= FRAME_VOCAB_MAX
	      && score[SCORE_BEST] >= 0 && score[SCORE_BEST] < (float)n_ids(p) && score[SCORE_BEST_LOGPROB] <= 0))
		return fault(p, out->pos, "not a score", w);
	return 1;
}

/* Reads a sampler's log-probability of the token that it drew. Returns 0 if the token was cut off afterwards. */
static int read_drawn(struct positions *p, struct position *out, struct why *w)
{
	const struct predicted *s = find(p, w);
	const float (*pair)[2];

	*out = (struct position){ .seq = p->f.seq, .pos = p->f.pos, .predicted = 1 };
	if (!s)
		return -1;
	out->id = token_at(s, out->pos);
	if (out->id < 0)
		return 0;
	if (grow_scratch(&p->logits, &p->room, p->f.rows * sizeof *pair))
		return why(w, "out of memory for %" PRIu32 " log-probabilities", p->f.rows);
	if (frame_read(&p->in, &p->f, p->logits, 2 * (size_t)p->f.rows, w) < 0)
		return -1;
	pair = (const float (*)[2])p->logits;
	for (uint32_t i = 0; i < p->f.rows; i++)
		if (!(pair[i][0] >= 0 && pair[i][0] < (float)n_ids(p) && pair[i][1] <= 0))
			return fault(p, out->pos, "not ids and their log-probabilities", w);
	if ((int32_t)pair[0][0] != out->id)
		return fault(p, out->pos, "not the log-probability of the token before it", w);
	out->score[SCORE_LOGPROB] = pair[0][1];
	out->best = pair + 1;
	out->n_best = p->f.rows - 1;
	for (size_t i = 0; i < out->n_best; i++)
		if ((int32_t)out->best[i][0] == out->id)
			out->score[SCORE_RANK] = (float)(i + 1);
	return 1;
}

/* Reads a frame of ids. The row that is kept predicts the first of them if they continue the sequence. */
static int read_ids(struct positions *p, struct position *out, struct why *w)
{
	struct predicted *s = find(p, w);
	uint32_t due;
	size_t bytes;

	if (!s)
		return -1;
	if (p->f.pos == FRAME_APPEND)
		return fault(p, 0, "tokens without a position: fwd writes it", w);
	due = s->pos + (uint32_t)s->ids.n;
	bytes = s->ids.room * sizeof *s->ids.id;
	if (frame_read_all(&p->in, &p->f, &s->ids.id, &bytes, w) < 0)
		return -1;
	s->ids.room = bytes / sizeof *s->ids.id;
	s->ids.n = p->f.rows;
	s->pos = p->f.pos;
	s->told = 0;
	for (size_t i = 0; i < s->ids.n; i++)
		if (card_check_id(s->ids.id[i], n_ids(p), w))
			return frame_why(&p->in, w);
	return s->cols ? waiting(p, s, due, token_at(s, due), out, w) : 0;
}

static int read_card(struct positions *p, struct why *w)
{
	struct card card;

	if (card_read(&p->in, &p->f, &card, w) < 0)
		return -1;
	if (p->carded && card_agree(&card, p->in.name, &p->card, "the card before it", w) < 0)
		return frame_why(&p->in, w);
	p->card = card;
	p->carded = 1;
	return 0;
}

/* If tokens without a prediction are wanted: returns one that no prediction came for before its frame was over. 0:
 * none. */
static int untold(const struct positions *p, struct predicted *s, struct position *out)
{
	if (!p->whole || !s || s->told >= s->ids.n)
		return 0;
	*out = (struct position){ .seq = s->sequence.number, .pos = s->pos + s->told, .id = s->ids.id[s->told] };
	s->told++;
	return 1;
}

static int read_end(struct positions *p, struct position *out, struct why *w)
{
	struct predicted *s = (struct predicted *)sequences_find(&p->open, p->f.seq);

	if (p->f.seq) {
		if (sequences_end(&p->open, p->f.seq, w) < 0)
			return -1;
		p->over = s;
	}
	if (p->ends && p->f.seq != FRAME_NO_SEQ) {
		*out = (struct position){ .seq = p->f.seq, .pos = p->f.pos, .id = -1 };
		return 1;
	}
	return left_over(p, s, out, w);
}

/* Handles the header of a frame. Returns 1: a prediction; 0: none yet, but rows may follow. */
static int begin(struct positions *p, struct position *out, struct why *w)
{
	free_sequence(p->over);
	p->over = NULL;
	p->row = p->f.rows;
	if (p->f.kind == FRAME_CARD)
		return read_card(p, w);
	if (sequences_is_over(&p->open, p->f.seq))
		return 0;
	if (p->f.kind == FRAME_IDS || p->f.kind == FRAME_END)
		p->begins = untold(p, (struct predicted *)sequences_find(&p->open, p->f.seq), out);
	if (p->begins)
		return 1;
	if (p->f.kind == FRAME_IDS)
		return read_ids(p, out, w);
	if (p->f.kind == FRAME_END)
		return read_end(p, out, w);
	if (p->f.kind == FRAME_LOGPROBS && p->drawn)
		return read_drawn(p, out, w);
	if ((p->f.kind != FRAME_LOGITS || p->f.flags) && p->f.kind != FRAME_SCORES)
		return 0;
	if (p->f.kind == FRAME_LOGITS && p->carded && p->f.cols != (uint32_t)p->card.n_vocab)
		return fault(p, p->f.pos, "rows that are not of the card's vocabulary", w);
	p->row = 0;
	return left_over(p, (struct predicted *)sequences_find(&p->open, p->f.seq), out, w);
}

/* What is left after the end of the input. */
static int last(struct positions *p, struct position *out, struct why *w)
{
	struct sequence **all = sequences_all(&p->open, w);
	int status = all ? 0 : -1;

	for (size_t i = 0; !status && i < p->open.n; i++) {
		struct predicted *s = (struct predicted *)all[i];

		status = untold(p, s, out) ? 1 : left_over(p, s, out, w);
	}
	free(all);
	return status;
}

static int next(struct positions *p, struct position *out, struct why *w)
{
	int status = 0;

	while (!status) {
		if (p->row < p->f.rows)
			status = p->f.kind == FRAME_SCORES ? read_score(p, out, w) : read_logits(p, out, w);
		else if (!p->begins && (status = frame_next(&p->in, &p->f, w)) == 0)
			return last(p, out, w);
		else if (status >= 0)
			status = begin(p, out, w);
	}
	return status;
}

int positions_next(struct positions *p, struct position *out, struct why *w)
{
	struct predicted *s;
	int status = p->holds ? 1 : next(p, &p->held, w);

	if (status <= 0)
		return status;
	s = (struct predicted *)sequences_find(&p->open, p->held.seq);
	p->holds = s && s->ids.n && p->held.pos > s->pos + s->told && untold(p, s, out);
	if (p->holds)
		return 1;
	*out = p->held;
	if (s && p->held.predicted && token_at(s, p->held.pos) >= 0)
		s->told = p->held.pos - s->pos + 1;
	return 1;
}

int positions_check(const struct positions *p, const struct position *at, const struct card *model, struct why *w)
{
	if (p->carded)
		return card_agree(&p->card, p->in.name, model, "the model", w);
	if (at->row && at->n_vocab != (size_t)model->n_vocab)
		return why(w, "%s: rows of %zu logits, but the model's vocabulary has %" PRId32 " ids", p->in.name,
			at->n_vocab, model->n_vocab);
	if ((at->id >= 0 && card_check_id(at->id, model->n_vocab, w))
	    || card_check_id((int32_t)at->score[SCORE_BEST], model->n_vocab, w))
		return frame_why(&p->in, w);
	for (size_t i = 0; i < at->n_best; i++)
		if (card_check_id((int32_t)at->best[i][0], model->n_vocab, w))
			return frame_why(&p->in, w);
	return 0;
}
