/* The rows of tokens, and the least likely of them. */
#include "tokens.h"

#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {
	{ "sequence", "sequence", 8, 0 }, { "position", "position", 10, 0 }, { "id", "id", 8, 0 },
	{ "logprob", "logprob", 9, 4 }, { "rank", "rank", 7, 0 },
	{ "best", "best", 8, 0 }, { "best_logprob", "logprob", 9, 4 }
};
enum { COLUMNS = sizeof columns / sizeof *columns };

void tokens_heading(const struct figures *f, const struct token_pieces *pieces)
{
	figures_heading(f, columns, COLUMNS, pieces ? "  token, best" : "");
}

void tokens_row(struct figures *f, const struct position *at, const struct token_pieces *pieces)
{
	const float *score = at->score;
	const double values[COLUMNS] = { at->seq, at->pos, at->id, (double)score[SCORE_LOGPROB],
		(double)score[SCORE_RANK], (double)score[SCORE_BEST], (double)score[SCORE_BEST_LOGPROB] };
	struct cell cell[2] = { { .key = "token" }, { .key = "best_token" } };

	if (pieces) {
		cell[0].s = pieces_shown(pieces, at->id, &cell[0].n);
		cell[1].s = pieces_shown(pieces, (int32_t)score[SCORE_BEST], &cell[1].n);
	}
	figures_row(f, columns, COLUMNS, values, cell, pieces ? 2 : 0);
}

int worst_open(struct worst *l, size_t most, struct why *w)
{
	*l = (struct worst){ .most = most, .at = malloc(most * sizeof *l->at + 1) };
	return l->at ? 0 : why(w, "out of memory");
}

void worst_add(struct worst *l, const struct position *at)
{
	float logprob = at->score[SCORE_LOGPROB];
	size_t i = l->n;

	while (i > 0 && l->at[i - 1].score[SCORE_LOGPROB] > logprob)
		i--;
	if (i == l->most)
		return;
	l->n += l->n < l->most;
	memmove(l->at + i + 1, l->at + i, (l->n - i - 1) * sizeof *l->at);
	l->at[i] = *at;
}
