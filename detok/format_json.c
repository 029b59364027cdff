/* A JSON object for each token, with the candidates for its position. */
#include "view.h"

#include <math.h>

#include "lib/base/json.h"
#include "lib/base/members.h"
#include "lib/base/out.h"

static void put_id(const struct view *v, struct json_writer *to, int32_t id)
{
	char buffer[16];
	size_t n;
	const char *piece = view_piece(v, id, buffer, &n);

	member_int(to, "id", id);
	if (!v->vocab)
		return;
	member_bytes(to, "text", piece, n);
}

static void put_best(const struct view *v, struct json_writer *to, const struct shown *s)
{
	member_open(to, "top", '[');
	for (size_t i = 0; i < s->n_best; i++) {
		json_open(to, '{');
		put_id(v, to, s->best[i].id);
		member_real(to, "p", s->best[i].p);
		json_close(to, '}');
	}
	json_close(to, ']');
}

/* The token, and how well it was predicted; of a token that does not follow, nulls. */
static void put_token(struct json_writer *to, const struct shown *s)
{
	if (s->at->id < 0) {
		member_null(to, "id");
		member_null(to, "text");
		return;
	}
	member_int(to, "id", s->at->id);
	member_bytes(to, "text", s->text, s->n);
	if (!s->predicted)
		return;
	member_real(to, "bits", s->bits);
	member_real(to, "logprob", (double)s->at->score[SCORE_LOGPROB]);
	if (s->at->score[SCORE_RANK] > 0)
		member_int(to, "rank", (int64_t)s->at->score[SCORE_RANK]);
	else
		member_null(to, "rank");
}

/* A line for each piece of text; `text` is the whole of it, where `id` is the first of several tokens. */
static void show_json(struct view *v, const struct shown *s)
{
	struct json_writer to = json_to_out();

	json_open(&to, '{');
	member_int(&to, "sequence", s->at->seq);
	member_int(&to, "position", s->at->pos);
	put_token(&to, s);
	if (s->predicted)
		put_best(v, &to, s);
	json_close(&to, '}');
	out_char('\n');
}

const struct format format_json = { .option = "json", .token = show_json };
