/* The top tokens at each position: as bars that fit the terminal, or as JSON. */
#include "render.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/term/width.h"

enum { NUMBERS = 10 };          /* columns before a bar: " 12.34 %  " */

/* ---- bars ---- */

/* A piece, shortened or padded to this many columns. */
static void put_piece(const struct render *r, int32_t id, size_t columns)
{
	char buffer[16], c[4];
	size_t n, used, size, at = 0;
	int wide;
	const char *piece = render_piece(r, id, buffer, &n);

	for (size_t i = 0; i < n; i += used) {
		size = render_char(piece + i, n - i, c, &used);
		width_next(c, size, &wide);
		if (at + (size_t)wide > columns)
			break;
		out_bytes(c, size);
		at += (size_t)wide;
	}
	out_print("%*s", (int)(columns - at), "");
}

/* Eighths of a column. */
static void put_bar(double share, size_t columns)
{
	static const char *const part[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	size_t eighths = (size_t)(share * 8 * (double)columns + 0.5);

	eighths = size_min(eighths, 8 * columns);
	for (size_t i = 0; i < eighths / 8; i++)
		out_text("█");
	out_text(part[eighths % 8]);
}

/* "  31.20 % * king      ████████": the token that came has the mark. */
static void put_top(const struct render *r, const struct top_token *o, int came)
{
	size_t piece = size_max(size_min(r->columns / 4, 20), 4), before = NUMBERS + 2 + piece;

	out_text(came && r->coloured ? "\033[1m" : "");
	out_print("%7.2f %% %s ", 100 * o->p, came ? "*" : " ");
	put_piece(r, o->id, piece);
	out_char(' ');
	put_bar(o->p, r->columns > before + 1 ? r->columns - before - 1 : 1);
	out_text(came && r->coloured ? "\033[0m\n" : "\n");
}

static void show_bars(struct render *r, const struct shown *s)
{
	const struct top_token token = { s->at->id, s->predicted ? exp((double)s->at->score[SCORE_LOGPROB]) : 0 };
	int came = s->at->id < 0;

	if (!s->predicted)
		return;
	out_print("at %" PRIu32, s->at->pos);
	if (s->at->seq)
		out_print(", sequence %" PRIu32, s->at->seq);
	if (s->at->id < 0)
		out_text(": next token");
	else if (s->at->score[SCORE_RANK] > 0)
		out_print(": rank %.0f", (double)s->at->score[SCORE_RANK]);
	out_char('\n');
	for (size_t i = 0; i < s->n_best; i++) {
		came |= s->best[i].id == s->at->id;
		put_top(r, &s->best[i], s->best[i].id == s->at->id);
	}
	if (!came)
		put_top(r, &token, 1);
}

const struct render_kind render_bars = { .name = "bars", .predicted_only = 1, .show = show_bars };

/* ---- JSON ---- */

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

static void put_id(const struct render *r, struct json_writer *to, int32_t id, const char *key)
{
	char buffer[16];
	size_t n;
	const char *piece = render_piece(r, id, buffer, &n);

	put_key(to, "id");
	json_int(to, id);
	if (!r->vocab)
		return;
	put_key(to, key);
	json_string(to, piece, n);
}

static void put_tops(struct render *r, struct json_writer *to, const struct shown *s)
{
	put_key(to, "top");
	json_open(to, '[');
	for (size_t i = 0; i < s->n_best; i++) {
		json_open(to, '{');
		put_id(r, to, s->best[i].id, "text");
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
static void show_json(struct render *r, const struct shown *s)
{
	struct json_writer to = json_to_out();

	json_open(&to, '{');
	put_key(&to, "sequence");
	json_int(&to, s->at->seq);
	put_key(&to, "position");
	json_int(&to, s->at->pos);
	put_token(&to, s);
	if (s->predicted)
		put_tops(r, &to, s);
	json_close(&to, '}');
	out_char('\n');
}

const struct render_kind render_json = { .name = "json", .show = show_json };
