/* The last column stays empty: a terminal is between two rows after a character there. */
#include "wrap.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/system.h"
#include "tty.h"
#include "width.h"

static void end_word(struct wrap *w)
{
	w->n = 0;
	w->width = 0;
}

void wrap_line(struct wrap *w)
{
	int rows;

	w->columns = 0;
	if (w->on && !w->fenced)
		system_terminal_size(w->fd, &w->columns, &rows);
	w->at = 0;
	w->begun = w->ticks = 0;
	end_word(w);
}

void wrap_begin(struct wrap *w, int fd)
{
	*w = (struct wrap){ .fd = fd, .on = tty_moves(fd) };
	wrap_line(w);
}

/* Finds lines that stay whole by how they begin. */
static void look(struct wrap *w, char c)
{
	if (!w->begun && c == '|')
		w->columns = 0;
	if (c == '`' && w->ticks == w->begun && ++w->ticks == 3) {
		w->fenced = !w->fenced;
		w->columns = 0;
	}
	w->begun++;
}

/* Begins a line, with the word that the last one ends with. */
static void next_line(struct wrap *w, visible_sink *put, void *context)
{
	char back[32];

	if (w->width)
		put(context, back, (size_t)snprintf(back, sizeof back, "\033[%dD\033[K", w->width));
	put(context, "\n", 1);
	put(context, w->word, w->n);
	w->at = w->width;
}

void wrap_put(struct wrap *w, const char *s, size_t n, visible_sink *put, void *context)
{
	int blank = *s == ' ' || *s == '\t', wide = 8 - w->at % 8;

	if (*s == '\n') {
		put(context, s, n);
		wrap_line(w);
		return;
	}
	look(w, *s);
	if (*s != '\t')
		width_next(s, n, &wide);
	if (blank)
		end_word(w);
	if (w->columns && w->at + wide >= w->columns) {
		if (w->width && w->width >= w->at)
			w->at -= w->columns;    /* a word longer than a line, which the terminal breaks */
		else
			next_line(w, put, context);
		if (blank)
			return;
	}
	put(context, s, n);
	w->at += wide;
	if (wide > 1 || w->n + n > WRAP_WORD)
		end_word(w);
	if (!blank && wide < 2) {
		memcpy(w->word + w->n, s, n);
		w->n += n;
		w->width += wide;
	}
}
