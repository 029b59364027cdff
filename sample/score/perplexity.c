/* Reads one stream, and counts. */
#include "perplexity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/grow.h"
#include "lib/base/members.h"
#include "lib/base/out.h"

/* The bytes that a token adds to the text. That of the first one may begin with a space that tok put there. */
static size_t bytes_of(const struct token_pieces *pieces, const struct position *at)
{
	const struct vocab_rules *rules = vocab_rules(pieces_vocab(pieces));
	size_t n = 0;
	const char *s = pieces_printed(pieces, at->id, &n);

	return s && n && at->pos == 1 && rules->add_bos && rules->space_prefix && *s == ' ' ? n - 1 : s ? n : 0;
}

static void count(struct tally *t, const struct perplexity *p, const struct position *at)
{
	mean_add(&t->nll, -(double)at->score[SCORE_LOGPROB]);
	t->first_choice += at->score[SCORE_RANK] < 2;
	if (p->pieces)
		t->bytes += bytes_of(p->pieces, at);
}

/* Bits per byte; NaN if the bytes are not known. */
static double bits_per_byte(const struct tally *t)
{
	return t->bytes ? mean_of(&t->nll) / log(2) * (double)t->nll.n / (double)t->bytes : NAN;
}

/* ---- texts ---- */

struct latest {
	struct sequence sequence;
	size_t text;                    /* its index in p->text */
};

/* The text that this position belongs to. NULL: out of memory. */
static struct text_score *text_at(struct perplexity *p, const struct position *at, struct why *w)
{
	struct latest *l = (struct latest *)sequences_find(&p->latest, at->seq);
	int found = l != NULL;

	if (found && (at->pos || at->predicted || at->id < 0))
		return &p->text[l->text];
	if ((!found && !(l = calloc(1, sizeof *l)))
	    || (p->n_texts == p->room && grow(&p->text, &p->room, sizeof *p->text, 64) < 0)) {
		why(w, "out of memory");
		goto failed;
	}
	if (!found && sequences_add(&p->latest, &l->sequence, at->seq, w) < 0)
		goto failed;
	l->text = p->n_texts++;
	p->text[l->text] = (struct text_score){ .seq = at->seq, .number = l->text };
	return &p->text[l->text];
failed:
	if (!found)
		free(l);
	return NULL;
}

static int compare(const void *a, const void *b)
{
	const struct text_score *x = a, *y = b;

	return x->seq != y->seq ? (x->seq > y->seq) - (x->seq < y->seq) : (x->number > y->number)
		- (x->number < y->number);
}

/* A row for each text, in the order of the sequences. */
static void put_texts(struct perplexity *p)
{
	static const struct column columns[] = {
		{ "sequence", "sequence", 8, 0 }, { "tokens", "tokens", 8, 0 }, { "logprob", "log p", 13, 4 },
		{ "perplexity", "perplexity", 12, 4 }, { "first_choice", "most likely", 11, 2 },
		{ "bytes", "bytes", 8, 0 }, { "bits_per_byte", "bits/byte", 9, 4 }
	};
	size_t n = sizeof columns / sizeof *columns - (p->pieces ? 0 : 2);

	if (p->n_texts)
		qsort(p->text, p->n_texts, sizeof *p->text, compare);
	figures_heading(&p->out, columns, n, "");
	for (const struct text_score *x = p->text; x < p->text + p->n_texts; x++) {
		const struct tally *t = &x->tally;
		const double values[] = { x->seq, (double)t->nll.n, t->nll.n ? -t->nll.sum : NAN,
			exp(mean_of(&t->nll)), 100 * (double)t->first_choice / (double)t->nll.n, (double)t->bytes,
			bits_per_byte(t) };

		figures_row(&p->out, columns, n, values, NULL, 0);
	}
}

/* ---- the stream ---- */

static void put_worst(struct perplexity *p)
{
	if (p->as_json) {
		member_open(&p->out.json, "worst", '[');
	} else {
		out_char('\n');
		tokens_heading(&p->out, p->pieces);
	}
	for (size_t i = 0; i < p->worst.n; i++)
		tokens_row(&p->out, &p->worst.at[i], p->pieces);
	if (p->as_json)
		json_close(&p->out.json, ']');
}

static void put_figures(struct perplexity *p)
{
	const struct tally *t = &p->tally;
	double nll = mean_of(&t->nll), error = mean_error(&t->nll), n = (double)t->nll.n;
	const struct figure all[] = {
		{ "tokens", "tokens", "", n, -1, 0 },
		{ "perplexity", "perplexity", "", exp(nll), exp(nll) * error, 4 },
		{ "nll", "-log p", "nats/token", nll, error, 4 },
		{ "bits_per_token", "", "bits/token", nll / log(2), error / log(2), 4 },
		{ "bytes", "bytes", "", p->pieces ? (double)t->bytes : NAN, -1, 0 },
		{ "bits_per_byte", "", "bits/byte", bits_per_byte(t), -1, 4 },
		{ "first_choice", "most likely", "% of the tokens", 100 * (double)t->first_choice / n, -1, 2 },
	};

	figures_start(&p->out, p->as_json);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		figures_put(&p->out, &all[i]);
	if (p->most)
		put_worst(p);
	figures_end(&p->out);
}

static int add(struct perplexity *p, const struct position *at, struct why *w)
{
	struct text_score *text = NULL;
	int counts = at->predicted && at->id >= 0 && perplexity_counts(p->chunk, at->pos);

	if (p->of == TEXTS && !(text = text_at(p, at, w)))
		return -1;
	if (!counts)
		return 0;
	if (p->of == TOKENS && !p->tally.nll.n)
		tokens_heading(&p->out, p->pieces);
	if (p->of == TOKENS)
		tokens_row(&p->out, at, p->pieces);
	if (text)
		count(&text->tally, p, at);
	count(&p->tally, p, at);
	if (p->most)
		worst_add(&p->worst, at);
	return 0;
}

/* Why there is nothing to show. */
static int nothing(const struct perplexity *p, const struct positions *in, struct why *w)
{
	if (in->carded && in->card.n_ctx && in->in.number == 1)
		return why(w, "%s: no tokens: the text is empty, or longer than the context of %" PRId32
			" (use tok --chunk and score --chunk)", in->in.name, in->card.n_ctx);
	return why(w, "%s: %s", in->in.name, p->chunk ? "no scored token in the second half of a chunk"
		: "no scored tokens: fwd --score writes scores, fwd --all all logits");
}

static void close_texts(struct perplexity *p)
{
	struct sequence *s;

	while ((s = sequences_take(&p->latest)))
		free(s);
	free(p->text);
}

int perplexity_run(struct perplexity *p, struct positions *in, struct why *w)
{
	struct position at;
	struct card model;
	int status;

	p->out.as_json = p->as_json;
	in->whole = in->ends = p->of == TEXTS;
	if (p->pieces)
		vocab_card(pieces_vocab(p->pieces), &model);
	if (worst_open(&p->worst, p->most, w) < 0)
		return -1;
	while ((status = positions_next(in, &at, w)) > 0) {
		if (p->pieces)
			status = positions_check(in, &at, &model, w);
		if (status < 0 || (status = add(p, &at, w)) < 0)
			break;
	}
	if (status == 0 && !p->tally.nll.n)
		status = nothing(p, in, w);
	if (status == 0 && p->of == WHOLE)
		put_figures(p);
	if (status == 0 && p->of == TEXTS)
		put_texts(p);
	free(p->worst.at);
	close_texts(p);
	return status;
}
