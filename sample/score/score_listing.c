/* Prints tokens with their scores, as a table or as JSON. */
#include "figures.h"
#include "score_listing.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/out.h"

static void put_piece(const struct token_pieces *pieces, int32_t id)
{
	size_t n;
	const char *s = pieces_shown(pieces, id, &n);

	out_text("  \"");
	if (s)
		out_quoted(s, n, '\\');
	out_char('"');
}

void listing_heading(const struct token_pieces *pieces)
{
	out_print("%8s %10s %8s %9s %7s %8s %9s%s\n", "sequence", "position", "id", "logprob", "rank", "best",
		"logprob", pieces ? "  token, best" : "");
}

void listing_line(const struct position *at, const struct token_pieces *pieces)
{
	const float *score = at->score;

	out_print("%8" PRIu32 " %10" PRIu32 " %8" PRId32 " %9.4f %7.0f %8.0f %9.4f", at->seq, at->pos, at->id,
		score[SCORE_LOGPROB], score[SCORE_RANK], score[SCORE_BEST], score[SCORE_BEST_LOGPROB]);
	if (pieces) {
		put_piece(pieces, at->id);
		put_piece(pieces, (int32_t)score[SCORE_BEST]);
	}
	out_char('\n');
}

static void put_text(struct json_writer *to, const char *key, const struct token_pieces *pieces, int32_t id)
{
	size_t n = 0;
	const char *s = pieces_shown(pieces, id, &n);

	json_key(to, key, strlen(key));
	json_string(to, s ? s : "", s ? n : 0);
}

void listing_json(struct json_writer *to, const struct position *at, const struct token_pieces *pieces)
{
	json_open(to, '{');
	figures_number(to, "sequence", at->seq);
	figures_number(to, "position", at->pos);
	figures_number(to, "id", at->id);
	figures_number(to, "logprob", (double)at->score[SCORE_LOGPROB]);
	figures_number(to, "rank", (double)at->score[SCORE_RANK]);
	figures_number(to, "best", (double)at->score[SCORE_BEST]);
	figures_number(to, "best_logprob", (double)at->score[SCORE_BEST_LOGPROB]);
	if (pieces) {
		put_text(to, "token", pieces, at->id);
		put_text(to, "best_token", pieces, (int32_t)at->score[SCORE_BEST]);
	}
	json_close(to, '}');
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
