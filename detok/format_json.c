/* A JSON object for each token, with the candidates for its position. */
#include "view.h"

#include <math.h>

#include "lib/base/json.h"
#include "lib/base/out.h"

static void put_number(struct json_writer *to, const char *key, double x)
{
	json_name(to, key);
	if (isfinite(x))
		json_float(to, x);
	else
		json_raw(to, "null");
}

static void put_id(const struct view *v, struct json_writer *to, int32_t id)
{
	char buffer[16];
	size_t n;
	const char *piece = view_piece(v, id, buffer, &n);

	json_name(to, "id");
	json_int(to, id);
	if (!v->vocab)
		return;
	json_name(to, "text");
	json_string(to, piece, n);
}

static void put_best(const struct view *v, struct json_writer *to, const struct shown *s)
{
	json_name(to, "top");
	json_open(to, '[');
	for (size_t i = 0; i < s->n_best; i++) {
		json_open(to, '{');
		put_id(v, to, s->best[i].id);
		put_number(to, "p", s->best[i].p);
		json_close(to, '}');
	}
	json_close(to, ']');
}

/* The token, and how well it was predicted; of a token that does not follow, nulls. */
static void put_token(struct json_writer *to, const struct shown *s)
{
	if (s->at->id < 0) {
		json_name(to, "id");
		json_raw(to, "null");
		json_name(to, "text");
		json_raw(to, "null");
		return;
	}
	json_name(to, "id");
	json_int(to, s->at->id);
	json_name(to, "text");
	json_string(to, s->text, s->n);
	if (!s->predicted)
		return;
	put_number(to, "bits", s->bits);
	put_number(to, "logprob", (double)s->at->score[SCORE_LOGPROB]);
	json_name(to, "rank");
	if (s->at->score[SCORE_RANK] > 0)
		json_int(to, (int64_t)s->at->score[SCORE_RANK]);
	else
		json_raw(to, "null");
}

/* A line for each piece of text; `text` is the whole of it, where `id` is the first of several tokens. */
static void show_json(struct view *v, const struct shown *s)
{
	struct json_writer to = json_to_out();

	json_open(&to, '{');
	json_name(&to, "sequence");
	json_int(&to, s->at->seq);
	json_name(&to, "position");
	json_int(&to, s->at->pos);
	put_token(&to, s);
	if (s->predicted)
		put_best(v, &to, s);
	json_close(&to, '}');
	out_char('\n');
}

const struct format format_json = { .option = "json", .token = show_json };
