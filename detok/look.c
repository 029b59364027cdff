/* From predictions to pieces of text. */
#include "look.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "lib/base/out.h"
#include "lib/base/utf8.h"
#include "lib/sampler/score.h"
#include "lib/sampler/topk.h"

enum { GROUP_MAX = 64 };        /* bytes that wait for the rest of a character */

int look_level(const struct shown *s)
{
	static const double from[LOOK_LEVELS] = { 0, 2, 4, 7, 10, 13 };
	int level = 0;

	while (s->predicted && level + 1 < LOOK_LEVELS && s->bits >= from[level + 1])
		level++;
	return level;
}

const char *look_piece(const struct look *l, int32_t id, char buffer[16], size_t *n)
{
	const char *piece = l->vocab ? vocab_piece(l->vocab, id, 1, n) : NULL;

	if (piece)
		return piece;
	*n = (size_t)snprintf(buffer, 16, "<%" PRId32 ">", id);
	return buffer;
}

size_t look_next(const char *s, size_t n, char out[4], size_t *used)
{
	unsigned length;
	int32_t point = utf8_next(s, n, &length);

	*used = length;
	if (point < 0 || (point & 0xfffe) == 0xfffe || (point >= 0xfdd0 && point < 0xfdf0))
		point = UTF8_BAD;
	else if (point < ' ')
		point += 0x2400;
	else if (point == 0x7f)
		point = 0x2421;
	else if ((point >= 0x80 && point < 0xa0) || (point >= 0x2028 && point < 0x202f)
		 || (point >= 0x2066 && point < 0x206a))
		point = UTF8_BAD;       /* controls, too, of lines and of directions */
	return utf8_put(out, point);
}

int look_open(struct look *l, struct why *w)
{
	l->text.limit = SIZE_MAX / 2;
	l->best = malloc(l->top * sizeof *l->best);
	l->order = malloc(l->top * sizeof *l->order);
	if (!l->best || !l->order)
		return why(w, "out of memory");
	if (l->kind->start)
		l->kind->start(l);
	return 0;
}

static void flush(struct look *l)
{
	const struct shown s = { .at = &l->first, .text = l->text.p, .n = l->text.n, .begins = l->begins,
		.predicted = l->predicted, .bits = l->bits, .best = l->best, .n_best = l->n_best };

	if (l->text.n)
		l->kind->show(l, &s);
	l->text.n = 0;
}

void look_close(struct look *l)
{
	if (l->kind->end)
		l->kind->end(l);
	bytes_free(&l->text);
	free(l->best);
	free(l->order);
	free(l->scratch);
}

/* Whether s[n] ends inside a character. */
static int is_cut(const char *s, size_t n)
{
	for (size_t i = 1; i <= 3 && i <= n; i++) {
		unsigned char c = (unsigned char)s[n - i];

		if (c >= 0xc0)
			return i < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u);
		if (c < 0x80)
			return 0;
	}
	return 0;
}

/* The options at a position, of a row of logits or of a score. */
static int read_best(struct look *l, const struct position *at, struct why *w)
{
	double scale;

	if (!at->row) {
		l->n_best = 1;
		l->best[0] = (struct option){ (int32_t)at->score[SCORE_BEST],
			(double)fmath_exp(at->score[SCORE_BEST_LOGPROB]) };
		return 0;
	}
	if (at->n_vocab > l->room) {
		free(l->scratch);
		l->scratch = malloc(TOPK_SCRATCH(at->n_vocab) * sizeof *l->scratch);
		l->room = l->scratch ? at->n_vocab : 0;
		if (!l->scratch)
			return why(w, "out of memory for rows of %zu", at->n_vocab);
	}
	l->n_best = topk_sorted(at->row, at->n_vocab, l->top, l->order, l->scratch);
	scale = exp(-at->log_sum);
	for (size_t i = 0; i < l->n_best; i++)
		l->best[i] = (struct option){ l->order[i],
			(double)fmath_exp(at->row[l->order[i]] - at->row[l->order[0]]) * scale };
	return 0;
}

static int add(struct look *l, const struct position *at, struct why *w)
{
	char buffer[16];
	size_t n;
	const char *piece = look_piece(l, at->id, buffer, &n);
	int begins = !l->any || at->seq != l->seq || at->pos != l->next;

	if (l->text.n && (begins || l->text.n > GROUP_MAX || !is_cut(l->text.p, l->text.n)))
		flush(l);
	if (!l->text.n) {
		l->first = *at;
		l->begins = begins;
		l->predicted = at->predicted;
		l->bits = l->n_best = 0;
		if (at->predicted && read_best(l, at, w) < 0)
			return -1;
	}
	if (at->predicted)
		l->bits -= (double)at->score[SCORE_LOGPROB] / fmath_log(2);
	l->any = 1;
	l->seq = at->seq;
	l->next = at->pos + 1;
	if (bytes_put(&l->text, piece, n))
		return why(w, "out of memory");
	if (!is_cut(l->text.p, l->text.n))
		flush(l);
	return 0;
}

/* -1 if the stream is of another vocabulary. */
static int check(const struct look *l, const struct positions *in, const struct position *at, struct why *w)
{
	struct card mine;

	if (!l->vocab)
		return 0;
	vocab_card(l->vocab, &mine);
	if (in->carded && card_agree(&in->card, in->in.name, &mine, "the model", w) < 0)
		return -1;
	if (card_check_id(at->id, mine.n_vocab, w))
		return frame_why(&in->in, w);
	if (at->row && at->n_vocab != (size_t)mine.n_vocab)
		return why(w, "%s: rows of %zu logits, but the model's vocabulary has %" PRId32 " ids", in->in.name,
			at->n_vocab, mine.n_vocab);
	return 0;
}

int look_stream(struct look *l, int fd, const char *name, struct why *w)
{
	static struct positions in;
	struct position at;
	int status;

	positions_open(&in, fd, name);
	in.whole = 1;
	while ((status = positions_next(&in, &at, w)) > 0) {
		if (at.id < 0)
			continue;
		if (check(l, &in, &at, w) < 0 || add(l, &at, w) < 0 || out_flush(w) < 0) {
			status = -1;
			break;
		}
	}
	flush(l);
	positions_close(&in);
	return status;
}
