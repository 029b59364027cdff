/* From predictions to pieces of text: consecutive tokens are joined until they are whole characters. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/fmath.h"
#include "lib/base/grow.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
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
	return r->best && r->order ? 0 : why(w, "out of memory");
}

/* Begins the page once there is something to show, or the stream is empty, but not for one that cannot be read. */
static void begin_page(struct render *r)
{
	if (!r->begun++ && r->kind->start)
		r->kind->start(r);
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

/* Finds the top tokens at a position: from a sampler's log-probabilities, a row of logits, or the one that a score
 * names. */
static int read_best(struct render *r, const struct position *at, struct why *w)
{
	double scale;

	if (at->best) {
		r->piece.n_best = size_min(r->top, at->n_best);
		for (size_t i = 0; i < r->piece.n_best; i++)
			r->best[i] = (struct top_token){ (int32_t)at->best[i][0], (double)fmath_exp(at->best[i][1]) };
		return 0;
	}
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

/* Whether this position does not continue the text before it. */
static int begins(const struct render *r, const struct position *at)
{
	return !r->any || at->seq != r->seq || at->pos != r->next;
}

static int begin_piece(struct render *r, const struct position *at, struct why *w)
{
	r->first = *at;
	r->piece = (struct shown){ .at = &r->first, .begins = begins(r, at), .predicted = at->predicted,
		.best = r->best };
	return at->predicted ? read_best(r, at, w) : 0;
}

static void pass(struct render *r, const struct position *at)
{
	r->any = 1;
	r->seq = at->seq;
	r->next = at->pos + 1;
}

static int add(struct render *r, const struct position *at, struct why *w)
{
	char buffer[16];
	size_t n;
	const char *piece = render_piece(r, at->id, buffer, &n);

	if (r->text.n && (begins(r, at) || r->text.n > GROUP_MAX || !is_cut(r->text.p, r->text.n)) && flush(r, w))
		return -1;
	if (!r->text.n && begin_piece(r, at, w))
		return -1;
	if (at->predicted)
		r->piece.bits -= (double)at->score[SCORE_LOGPROB] / fmath_log(2);
	pass(r, at);
	if (bytes_put(&r->text, piece, n))
		return why(w, "out of memory");
	return is_cut(r->text.p, r->text.n) ? 0 : flush(r, w);
}

/* Shows a prediction whose token does not follow. */
static int add_next(struct render *r, const struct position *at, struct why *w)
{
	static const char ellipsis[] = "…";

	if (r->kind->text_only)
		return 0;
	if (flush(r, w) || begin_piece(r, at, w))
		return -1;
	r->piece.text = ellipsis;
	r->piece.n = sizeof ellipsis - 1;
	r->kind->show(r, &r->piece);
	pass(r, at);
	return 0;
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
	return at->id >= 0 && card_check_id(at->id, mine.n_vocab, w) ? frame_why(&in->in, w) : 0;
}

static int show_position(struct render *r, const struct positions *in, const struct position *at, struct why *w)
{
	if (check(r, in, at, w) < 0)
		return -1;
	begin_page(r);
	return (at->id < 0 ? add_next : add)(r, at, w) < 0 || out_flush(w) < 0 ? -1 : 0;
}

int render_stream(struct render *r, int fd, const char *name, struct why *w)
{
	static struct positions in;
	struct position at;
	int status = 0, predicted = 0;

	positions_open(&in, fd, name);
	in.whole = 1;
	in.drawn = 1;
	while (!r->stop.found && (status = positions_next(&in, &at, w)) > 0) {
		predicted |= at.predicted;
		if ((status = show_position(r, &in, &at, w)) < 0)
			break;
	}
	if (status >= 0)
		begin_page(r);
	if (status >= 0 && !r->stop.found)
		status = flush(r, w);
	if (status >= 0 && r->kind->predicted_only && !predicted && in.in.number)
		status = why(w, "%s: no predictions: fwd writes logits, fwd --score scores, sample --logprobs those of "
			"drawn tokens", name);
	positions_close(&in);
	return status < 0 ? -1 : 0;
}
