/* A JSON object for each token, with the candidates for its position. */
#include "view.h"

#include <math.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/out.h"

static void put_key(struct json_writer *to, const char *key)
{
	json_key(to, key, strlen(key));
}

static void put_number(struct json_writer *to, const char *key, double x)
{
	put_key(to, key);
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

	put_key(to, "id");
	json_int(to, id);
	if (!v->vocab)
		return;
	put_key(to, "text");
	json_string(to, piece, n);
}

static void put_best(const struct view *v, struct json_writer *to, const struct shown *s)
{
	put_key(to, "top");
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
		put_key(to, "id");
		json_raw(to, "null");
		put_key(to, "text");
		json_raw(to, "null");
		return;
	}
	put_key(to, "id");
	json_int(to, s->at->id);
	put_key(to, "text");
	json_string(to, s->text, s->n);
	if (!s->predicted)
		return;
	put_number(to, "bits", s->bits);
	put_number(to, "logprob", (double)s->at->score[SCORE_LOGPROB]);
	put_key(to, "rank");
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
	put_key(&to, "sequence");
	json_int(&to, s->at->seq);
	put_key(&to, "position");
	json_int(&to, s->at->pos);
	put_token(&to, s);
	if (s->predicted)
		put_best(v, &to, s);
	json_close(&to, '}');
	out_char('\n');
}

const struct format format_json = { .option = "json", .token = show_json };
