/* Text on a terminal, shaded from yellow to red: black text on fixed 256-palette colours (which themes do not remap),
 * readable on light and dark terminals. */
#include "view.h"

#include "lib/base/out.h"

static void show(struct view *v, const struct shown *s)
{
	static const int background[VIEW_LEVELS] = { 0, 229, 222, 215, 209, 203 };
	int level = v->coloured ? view_level(s) : 0, on = 0;
	char c[4];
	size_t n, used;

	if (s->begins && v->line++)
		out_char('\n');
	for (size_t i = 0; i < s->n; i += used) {
		n = view_char(s->text + i, s->n - i, c, &used);
		if (s->text[i] == '\n' || s->text[i] == '\t') {
			out_text(on ? "\033[0m" : "");
			on = 0;
			out_char(s->text[i]);
			continue;
		}
		if (level && !on)
			out_print("\033[38;5;16;48;5;%dm", background[level]);
		on = level;
		out_bytes(c, n);
	}
	out_text(on ? "\033[0m" : "");
}

static void end(struct view *v)
{
	out_char('\n');
}

const struct format format_text = { .option = "color", .text_only = 1, .token = show, .end = end };
