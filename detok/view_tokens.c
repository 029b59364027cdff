/* From predictions to pieces of text: consecutive tokens are joined until they are whole characters. */
#include "view.h"

#include <inttypes.h>
#include <math.h>

#include "lib/base/fmath.h"
#include "lib/base/out.h"
#include "lib/base/size.h"

enum { GROUP_MAX = 64 };        /* bytes that may wait for the rest of a character */

static int flush(struct view *v, struct why *w)
{
	int failed = 0;

	v->piece.text = v->spelled.p;
	v->piece.n = v->spelled.n;
	if (v->spelled.n && v->until.strings)
		failed = until_show(v, &v->piece) && why(w, "out of memory");
	else if (v->spelled.n)
		v->format->token(v, &v->piece);
	v->spelled.n = 0;
	return failed ? -1 : 0;
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

/* Finds the candidates for a position: from a sampler's log-probabilities, a row of logits, or the one that a score
 * names. */
static int read_best(struct view *v, const struct position *at, struct why *w)
{
	struct top *t = &v->best;
	double scale;

	if (at->best) {
		t->n = size_min(v->top, at->n_best);
		for (size_t i = 0; i < t->n; i++)
			t->best[i] = (struct candidate){ (int32_t)at->best[i][0], at->best[i][1],
				(double)fmath_exp(at->best[i][1]) };
		return 0;
	}
	if (!at->row) {
		t->n = 1;
		t->best[0] = (struct candidate){ (int32_t)at->score[SCORE_BEST], at->score[SCORE_BEST_LOGPROB],
			(double)fmath_exp(at->score[SCORE_BEST_LOGPROB]) };
		return 0;
	}
	if (top_select(t, at->row, at->n_vocab, v->top, w) < 0)
		return -1;
	scale = exp(-at->log_sum);
	for (size_t i = 0; i < t->n; i++)
		t->best[i].p = (double)fmath_exp(t->best[i].score - t->best[0].score) * scale;
	return 0;
}

/* Whether this position does not continue the text before it. */
static int begins(const struct view *v, const struct position *at)
{
	return !v->any || at->seq != v->seq || at->pos != v->next;
}

static int begin_piece(struct view *v, const struct position *at, struct why *w)
{
	v->first = *at;
	v->piece = (struct shown){ .at = &v->first, .begins = begins(v, at), .predicted = at->predicted,
		.best = v->best.best };
	if (at->predicted && read_best(v, at, w) < 0)
		return -1;
	v->piece.n_best = at->predicted ? v->best.n : 0;
	return 0;
}

static void pass(struct view *v, const struct position *at)
{
	v->any = 1;
	v->seq = at->seq;
	v->next = at->pos + 1;
}

static int add(struct view *v, const struct position *at, struct why *w)
{
	char buffer[16];
	size_t n;
	const char *piece = view_piece(v, at->id, buffer, &n);

	if (v->spelled.n && (begins(v, at) || v->spelled.n > GROUP_MAX || !is_cut(v->spelled.p, v->spelled.n))
	    && flush(v, w))
		return -1;
	if (!v->spelled.n && begin_piece(v, at, w))
		return -1;
	if (at->predicted)
		v->piece.bits -= (double)at->score[SCORE_LOGPROB] / fmath_log(2);
	pass(v, at);
	if (bytes_put(&v->spelled, piece, n))
		return why(w, "out of memory");
	return is_cut(v->spelled.p, v->spelled.n) ? 0 : flush(v, w);
}

/* Shows a prediction whose token does not follow. */
static int add_next(struct view *v, const struct position *at, struct why *w)
{
	static const char ellipsis[] = "…";

	if (v->format->text_only)
		return 0;
	if (flush(v, w) || begin_piece(v, at, w))
		return -1;
	v->piece.text = ellipsis;
	v->piece.n = sizeof ellipsis - 1;
	v->format->token(v, &v->piece);
	pass(v, at);
	return 0;
}

static int show_position(struct view *v, const struct positions *in, const struct position *at, struct why *w)
{
	if (v->vocab && positions_check(in, at, &v->mine, w) < 0)
		return -1;
	view_begin(v);
	return (at->id < 0 ? add_next : add)(v, at, w) < 0 || out_flush(w) < 0 ? -1 : 0;
}

int view_tokens(struct view *v, int fd, const char *name, struct why *w)
{
	static struct positions in;
	struct position at;
	int status = 0, predicted = 0;

	positions_open(&in, fd, name);
	in.whole = 1;
	in.drawn = 1;
	while (!v->until.found && (status = positions_next(&in, &at, w)) > 0) {
		predicted |= at.predicted;
		if ((status = show_position(v, &in, &at, w)) < 0)
			break;
	}
	if (status >= 0)
		view_begin(v);
	if (status >= 0 && !v->until.found)
		status = flush(v, w);
	if (status >= 0 && v->format->predicted_only && !predicted && in.in.number)
		status = why(w, "%s: no predictions: fwd writes logits, fwd --score scores, sample --logprobs those of "
			"drawn tokens", name);
	positions_close(&in);
	return status < 0 ? -1 : 0;
}
