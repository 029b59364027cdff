/* Self-contained pages: HTML, whose foot shows the candidates for the token under the pointer; and SVG, where viewers
 * show them as a title. Colours follow the reader's choice of light or dark. */
#include "view.h"

#include "lib/base/out.h"
#include "lib/term/width.h"

enum { LINE_COLUMNS = 80, CELL = 9, LINE = 20, MARGIN = 12 };

/* One rule for each level and scheme: backgrounds on which the text can be read. */
static const char light[] = ".s1{background:#fff5b8;fill:#fff5b8}.s2{background:#ffe08a;fill:#ffe08a}"
	".s3{background:#ffc27a;fill:#ffc27a}.s4{background:#ff9d7a;fill:#ff9d7a}.s5{background:#ff7a7a;fill:#ff7a7a}";
static const char dark[] = ".s1{background:#3a3412;fill:#3a3412}.s2{background:#544208;fill:#544208}"
	".s3{background:#6b3f06;fill:#6b3f06}.s4{background:#7f3015;fill:#7f3015}.s5{background:#932020;fill:#932020}";

/* A character that cannot stand for itself in text or in an attribute. */
static void put_escaped(const char *c, size_t n)
{
	if (*c == '&')
		out_text("&amp;");
	else if (*c == '<')
		out_text("&lt;");
	else if (*c == '>')
		out_text("&gt;");
	else if (*c == '"')
		out_text("&quot;");
	else
		out_bytes(c, n);
}

static void put_text(const char *s, size_t n)
{
	char c[4];
	size_t used;

	for (size_t i = 0; i < n; i += used)
		put_escaped(c, view_char(s + i, n - i, c, &used));
}

/* What the foot or the title says of a token: how likely it was, then the candidates, one per line. */
static void put_title(const struct view *v, const struct shown *s)
{
	char buffer[16];
	const char *piece;
	size_t n;

	put_text(s->text, s->n);
	out_text("&#10;");
	if (!s->predicted)
		out_text("not predicted");
	else if (s->at->id < 0)
		out_text("next token");
	else
		out_print("%.1f bits", s->bits);
	if (s->predicted && s->at->id >= 0 && s->at->score[SCORE_RANK] > 0)
		out_print(", rank %.0f", (double)s->at->score[SCORE_RANK]);
	for (size_t i = 0; i < s->n_best; i++) {
		out_print("&#10;%s%5.1f %%  ", s->best[i].id == s->at->id ? "▸" : " ", 100 * s->best[i].p);
		piece = view_piece(v, s->best[i].id, buffer, &n);
		put_text(piece, n);
	}
}

/* ---- HTML ---- */

static void start_html(struct view *v)
{
	out_text("<!doctype html>\n<html><head><meta charset=\"utf-8\"><title>peek</title>\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n<style>\n"
		":root{color-scheme:light dark}\n"
		"body{font:17px/1.6 Georgia,serif;max-width:42em;margin:2em auto 16em;padding:0 1em;"
		"white-space:pre-wrap;overflow-wrap:anywhere;background:#fff;color:#111}\n");
	out_text(light);
	out_text("\nspan:hover{outline:2px solid #36c}\n"
		"span:hover::after{content:attr(data-t);position:fixed;left:0;right:0;bottom:0;max-height:14em;"
		"overflow:hidden;white-space:pre;font:14px/1.4 monospace;padding:.7em 1em;"
		"background:#f2f2f2;color:#111;border-top:1px solid #999}\n"
		"@media (prefers-color-scheme:dark){body{background:#16181c;color:#e6e6e6}\n");
	out_text(dark);
	out_text("\nspan:hover{outline-color:#7af}\nspan:hover::after{background:#24272d;color:#e6e6e6}}\n"
		"</style></head>\n<body>");
}

static void show_html(struct view *v, const struct shown *s)
{
	char c[4];
	size_t used, n;

	if (s->begins && v->line++)
		out_text("<hr>");
	out_print("<span class=\"s%d\" data-t=\"", view_level(s));
	put_title(v, s);
	out_text("\">");
	for (size_t i = 0; i < s->n; i += used) {
		n = view_char(s->text + i, s->n - i, c, &used);
		if (s->text[i] == '\n' || s->text[i] == '\t')
			out_char(s->text[i]);
		else
			put_escaped(c, n);
	}
	out_text("</span>");
}

static void end_html(struct view *v)
{
	out_text("</body></html>\n");
}

/* ---- SVG: a grid of cells, each piece a rectangle and its text ---- */

static void start_svg(struct view *v)
{
	v->columns = LINE_COLUMNS;
	out_print("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" font-family=\"monospace\" "
		"font-size=\"15\">\n", LINE_COLUMNS * CELL + 2 * MARGIN);
	out_text("<style>text{fill:#111;white-space:pre}.page{fill:#fff}.s0{fill:none}");
	out_text(light);
	out_text("@media (prefers-color-scheme:dark){text{fill:#e6e6e6}.page{fill:#16181c}");
	out_text(dark);
	out_text("}</style>\n<rect class=\"page\" width=\"100%\" height=\"100%\"/>\n");
}

/* A part of a piece, on one line: text[n] and its width. */
static void put_run(const struct view *v, const struct shown *s, const char *text, size_t n, size_t columns)
{
	size_t x = MARGIN + v->column * CELL, y = MARGIN + v->line * LINE;

	if (!n)
		return;
	out_text("<g><title>");
	put_title(v, s);
	out_print("</title><rect class=\"s%d\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\"/>"
		"<text x=\"%zu\" y=\"%zu\" textLength=\"%zu\" xml:space=\"preserve\">",
		view_level(s), x, y, columns * CELL, LINE, x, y + 15, columns * CELL);
	put_text(text, n);
	out_text("</text></g>\n");
}

static void show_svg(struct view *v, const struct shown *s)
{
	size_t from = 0, columns = 0, used, n;
	char c[4];
	int wide;

	if (s->begins && (v->line || v->column)) {
		v->line += 2;
		v->column = 0;
	}
	for (size_t i = 0; i < s->n; i += used) {
		n = view_char(s->text + i, s->n - i, c, &used);
		width_next(c, n, &wide);
		if (s->text[i] == '\n' || v->column + columns + (size_t)wide > v->columns) {
			put_run(v, s, s->text + from, i - from, columns);
			from = i + (s->text[i] == '\n');
			columns = 0;
			v->line++;
			v->column = 0;
		}
		columns += s->text[i] == '\n' ? 0 : (size_t)wide;
	}
	put_run(v, s, s->text + from, s->n - from, columns);
	v->column += columns;
}

/* The height is known only now. */
static void end_svg(struct view *v)
{
	out_print("<style>svg{height:%zupx}</style></svg>\n", (v->line + 1) * LINE + 2 * MARGIN);
}

const struct format format_html = { .option = "html", .start = start_html, .token = show_html, .end = end_html };
const struct format format_svg = { .option = "svg", .start = start_svg, .token = show_svg, .end = end_svg };
