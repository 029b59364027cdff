/* From predictions to pieces of text: consecutive tokens are joined until they are whole characters. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "lib/base/out.h"
#include "lib/base/utf8.h"
#include "lib/base/visible.h"
#include "lib/sampler/score.h"
#include "lib/sampler/topk.h"
#include "render_stop.h"

enum { GROUP_MAX = 64 };        /* bytes that may wait for the rest of a character */

int render_level(const struct shown *s)
{
	static const double from[RENDER_LEVELS] = { 0, 2, 4, 7, 10, 13 };
	int level = 0;

	while (s->predicted && level + 1 < RENDER_LEVELS && s->bits >= from[level + 1])
		level++;
	return level;
}

const char *render_piece(const struct render *r, int32_t id, char buffer[16], size_t *n)
{
	const char *piece = r->vocab ? vocab_piece(r->vocab, id, 1, n) : NULL;

	if (piece)
		return piece;
	*n = (size_t)snprintf(buffer, 16, "<%" PRId32 ">", id);
	return buffer;
}

size_t render_char(const char *s, size_t n, char out[4], size_t *used)
{
	unsigned length;
	int32_t point = utf8_next(s, n, &length);

	*used = length;
	if ((point & 0xfffe) == 0xfffe || (point >= 0xfdd0 && point < 0xfdf0) || visible_disguises(point))
		point = UTF8_BAD;
	point = visible_point(point);
	return utf8_put(out, point);
}

int render_open(struct render *r, struct why *w)
{
	r->text.limit = r->stop.text.limit = SIZE_MAX / 2;
	r->best = malloc(r->top * sizeof *r->best);
	r->order = malloc(r->top * sizeof *r->order);
	if (!r->best || !r->order)
		return why(w, "out of memory");
	if (r->kind->start)
		r->kind->start(r);
	return 0;
}

static int flush(struct render *r, struct why *w)
{
	int failed = 0;

	r->piece.text = r->text.p;
	r->piece.n = r->text.n;
	if (r->text.n && r->stop.strings)
		failed = render_stop_show(r, &r->piece) && why(w, "out of memory");
	else if (r->text.n)
		r->kind->show(r, &r->piece);
	r->text.n = 0;
	return failed ? -1 : 0;
}

void render_close(struct render *r)
{
	if (r->stop.strings)
		render_stop_end(r);
	if (r->kind->end)
		r->kind->end(r);
	bytes_free(&r->text);
	free(r->best);
	free(r->order);
	free(r->scratch);
}

/* Whether s[n] ends in the middle of a character. */
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

/* Finds the top tokens at a position: from a row of logits, or the one that a score names. */
static int read_best(struct render *r, const struct position *at, struct why *w)
{
	double scale;

	if (!at->row) {
		r->piece.n_best = 1;
		r->best[0] = (struct top_token){ (int32_t)at->score[SCORE_BEST],
			(double)fmath_exp(at->score[SCORE_BEST_LOGPROB]) };
		return 0;
	}
	if (at->n_vocab > r->room) {
		free(r->scratch);
		r->scratch = malloc(TOPK_SCRATCH(at->n_vocab) * sizeof *r->scratch);
		r->room = r->scratch ? at->n_vocab : 0;
		if (!r->scratch)
			return why(w, "out of memory for rows of %zu", at->n_vocab);
	}
	r->piece.n_best = topk_sorted(at->row, at->n_vocab, r->top, r->order, r->scratch);
	scale = exp(-at->log_sum);
	for (size_t i = 0; i < r->piece.n_best; i++)
		r->best[i] = (struct top_token){ r->order[i],
			(double)fmath_exp(at->row[r->order[i]] - at->row[r->order[0]]) * scale };
	return 0;
}

static int add(struct render *r, const struct position *at, struct why *w)
{
	char buffer[16];
	size_t n;
	const char *piece = render_piece(r, at->id, buffer, &n);
	int begins = !r->any || at->seq != r->seq || at->pos != r->next;

	if (r->text.n && (begins || r->text.n > GROUP_MAX || !is_cut(r->text.p, r->text.n)) && flush(r, w))
		return -1;
	if (!r->text.n) {
		r->first = *at;
		r->piece = (struct shown){ .at = &r->first, .begins = begins, .predicted = at->predicted,
			.best = r->best };
		if (at->predicted && read_best(r, at, w) < 0)
			return -1;
	}
	if (at->predicted)
		r->piece.bits -= (double)at->score[SCORE_LOGPROB] / fmath_log(2);
	r->any = 1;
	r->seq = at->seq;
	r->next = at->pos + 1;
	if (bytes_put(&r->text, piece, n))
		return why(w, "out of memory");
	return is_cut(r->text.p, r->text.n) ? 0 : flush(r, w);
}

/* Returns -1 if the stream has another vocabulary. */
static int check(const struct render *r, const struct positions *in, const struct position *at, struct why *w)
{
	struct card mine;

	if (!r->vocab)
		return 0;
	vocab_card(r->vocab, &mine);
	if (positions_check(in, at, &mine, w) < 0)
		return -1;
	return card_check_id(at->id, mine.n_vocab, w) ? frame_why(&in->in, w) : 0;
}

int render_stream(struct render *r, int fd, const char *name, struct why *w)
{
	static struct positions in;
	struct position at;
	int status = 0;

	positions_open(&in, fd, name);
	in.whole = 1;
	in.drawn = r->kind->bits_only;
	while (!r->stop.found && (status = positions_next(&in, &at, w)) > 0) {
		if (at.id < 0)
			continue;
		if (check(r, &in, &at, w) < 0 || add(r, &at, w) < 0 || out_flush(w) < 0) {
			status = -1;
			break;
		}
	}
	if (status >= 0 && !r->stop.found)
		status = flush(r, w);
	positions_close(&in);
	return status < 0 ? -1 : 0;
}
