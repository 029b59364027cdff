/* The figures of one stream. */
#include "perplexity.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/out.h"

/* The bytes that a token adds to the text. That of the first one may begin with a space that tok put there. */
static size_t bytes_of(const struct token_pieces *pieces, const struct position *at)
{
	const struct vocab_rules *rules = vocab_rules(pieces_vocab(pieces));
	size_t n = 0;
	const char *s = pieces_printed(pieces, at->id, &n);

	return s && n && at->pos == 1 && rules->add_bos && rules->space_prefix && *s == ' ' ? n - 1 : s ? n : 0;
}

static void put_json_line(const struct position *at, const struct token_pieces *pieces)
{
	struct json_writer json = json_to_out();

	listing_json(&json, at, pieces);
	out_char('\n');
}

static void add(struct perplexity *p, const struct position *at)
{
	if (p->table && p->as_json)
		put_json_line(at, p->pieces);
	else if (p->table && !p->nll.n)
		listing_heading(p->pieces);
	if (p->table && !p->as_json)
		listing_line(at, p->pieces);
	mean_add(&p->nll, -(double)at->score[SCORE_LOGPROB]);
	p->first_choice += at->score[SCORE_RANK] < 2;
	if (p->pieces)
		p->bytes += bytes_of(p->pieces, at);
	if (p->most)
		worst_add(&p->worst, at);
}

static void put_worst(struct perplexity *p, struct figures *f)
{
	size_t i;

	if (f->as_json) {
		json_key(&f->json, "worst", 5);
		json_open(&f->json, '[');
		for (i = 0; i < p->worst.n; i++)
			listing_json(&f->json, &p->worst.at[i], p->pieces);
		json_close(&f->json, ']');
		return;
	}
	out_char('\n');
	listing_heading(p->pieces);
	for (i = 0; i < p->worst.n; i++)
		listing_line(&p->worst.at[i], p->pieces);
}

static void put_figures(struct perplexity *p)
{
	double nll = mean_of(&p->nll), error = mean_error(&p->nll), bits = nll / log(2), n = (double)p->nll.n;
	const struct figure all[] = {
		{ "tokens", "tokens", "", n, -1, 0 },
		{ "perplexity", "perplexity", "", exp(nll), exp(nll) * error, 4 },
		{ "nll", "-log p", "nats/token", nll, error, 4 },
		{ "bits_per_token", "", "bits/token", bits, error / log(2), 4 },
		{ "bytes", "bytes", "", p->pieces ? (double)p->bytes : NAN, -1, 0 },
		{ "bits_per_byte", "", "bits/byte", p->bytes ? bits * n / (double)p->bytes : NAN, -1, 4 },
		{ "first_choice", "most likely", "% of the tokens", 100 * (double)p->first_choice / n, -1, 2 },
	};
	struct figures f;

	figures_start(&f, p->as_json);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		figures_put(&f, &all[i]);
	if (p->most)
		put_worst(p, &f);
	figures_end(&f);
}

int perplexity_run(struct perplexity *p, struct positions *in, struct why *w)
{
	struct position at;
	struct card model;
	int status;

	if (p->pieces)
		vocab_card(pieces_vocab(p->pieces), &model);
	if (worst_open(&p->worst, p->most, w) < 0)
		return -1;
	while ((status = positions_next(in, &at, w)) > 0) {
		if (p->pieces && positions_check(in, &at, &model, w) < 0)
			break;
		if (at.id >= 0 && perplexity_counts(p->chunk, at.pos))
			add(p, &at);
	}
	if (status == 0 && !p->nll.n)
		status = why(w, "%s: %s", in->in.name, p->chunk ? "no scored token in the second half of a chunk"
			: "no scored tokens: fwd --score writes scores, fwd --all all logits");
	if (status == 0 && !p->table)
		put_figures(p);
	free(p->worst.at);
	return status == 0 ? 0 : -1;
}
