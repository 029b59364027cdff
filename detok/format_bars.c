/* The candidates for each position, as bars that fit the terminal. */
#include "view.h"

#include <inttypes.h>
#include <math.h>

#include "lib/base/out.h"
#include "lib/base/size.h"
#include "lib/term/width.h"

enum { NUMBERS = 10 };          /* columns before a bar: " 12.34 %  " */

/* A piece, shortened or padded to this many columns. */
static void put_piece(const struct view *v, int32_t id, size_t columns)
{
	char buffer[16], c[4];
	size_t n, used, size, at = 0;
	int wide;
	const char *piece = view_piece(v, id, buffer, &n);

	for (size_t i = 0; i < n; i += used) {
		size = view_char(piece + i, n - i, c, &used);
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
static void put_top(const struct view *v, const struct candidate *o, int came)
{
	size_t piece = size_max(size_min(v->columns / 4, 20), 4), before = NUMBERS + 2 + piece;

	out_text(came && v->coloured ? "\033[1m" : "");
	out_print("%7.2f %% %s ", 100 * o->p, came ? "*" : " ");
	put_piece(v, o->id, piece);
	out_char(' ');
	put_bar(o->p, v->columns > before + 1 ? v->columns - before - 1 : 1);
	out_text(came && v->coloured ? "\033[0m\n" : "\n");
}

static void show_bars(struct view *v, const struct shown *s)
{
	const struct candidate token = { .id = s->at->id,
		.p = s->predicted ? exp((double)s->at->score[SCORE_LOGPROB]) : 0 };
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
		put_top(v, &s->best[i], s->best[i].id == s->at->id);
	}
	if (!came)
		put_top(v, &token, 1);
}

const struct format format_bars = { .option = "bars", .predicted_only = 1, .token = show_bars };
