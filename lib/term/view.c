/* Lays text out in rows, and redraws all rows that fit after each change. */
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/io.h"
#include "lib/base/size.h"
#include "lib/base/system.h"
#include "lib/base/utf8.h"
#include "width.h"

enum { VIEW_BYTES = 1 << 28, TAB = 8 };
#define INDENT "  "             /* of the lines after the first */

/* ---- rows ---- */

static int add_row(struct view *v)
{
	if ((v->n_rows == v->room && grow(&v->start, &v->room, sizeof *v->start, 64))
	    || (v->n_rows == v->width_room && grow(&v->width, &v->width_room, sizeof *v->width, 64)))
		return -1;
	v->start[v->n_rows] = v->out.n;
	v->width[v->n_rows++] = 0;
	return 0;
}

/* Appends s[n], which is `columns` wide; in the next row if this one has no room. */
static int put(struct view *v, const char *s, size_t n, int columns)
{
	if (v->width[v->n_rows - 1] + columns > v->columns && v->width[v->n_rows - 1] && add_row(v))
		return -1;
	v->width[v->n_rows - 1] += columns;
	return bytes_put(&v->out, s, n);
}

static int put_tab(struct view *v)
{
	int left = TAB - v->width[v->n_rows - 1] % TAB;

	while (left--)
		if (put(v, " ", 1, 1))
			return -1;
	return 0;
}

/* Appends a character of text[n] with its marks, `columns` wide. U+FFFD replaces invalid text, because a recalled line
 * may contain anything. */
static int put_text(struct view *v, const char *text, size_t n, int columns)
{
	unsigned used;
	int32_t c = utf8_next(text, n, &used);

	return c < ' ' || (c >= 127 && c < 0xa0) ? put(v, "\xef\xbf\xbd", 3, columns) : put(v, text, n, columns);
}

/* Lays out all rows; *row and *column: where the cursor goes. */
static int lay_out(struct view *v, const char *prompt, const char *text, size_t n, size_t at, size_t *row,
	size_t *column)
{
	size_t used;
	int columns, failed;

	v->out.n = v->n_rows = 0;
	v->out.failed = 0;
	failed = add_row(v);
	for (const char *p = prompt; !failed && *p; p++)
		failed = put(v, p, 1, 1);
	*row = *column = 0;
	for (size_t i = 0; !failed && i <= n; i += used) {
		if (i <= at && v->width[v->n_rows - 1] == v->columns && (i == n || text[i] == '\n' || i == at))
			failed = add_row(v);
		if (i <= at) {
			*row = v->n_rows - 1;
			*column = (size_t)v->width[*row];
		}
		if (failed || i == n)
			break;
		used = 1;
		if (text[i] == '\n')
			failed = add_row(v) || put(v, INDENT, sizeof INDENT - 1, sizeof INDENT - 1);
		else if (text[i] == '\t')
			failed = put_tab(v);
		else {
			used = width_next(text + i, n - i, &columns);
			/* A wide character before the cursor's column may have gone to the next row. */
			failed = put_text(v, text + i, used, columns);
			if (i == at && !failed) {
				*row = v->n_rows - 1;
				*column = (size_t)(v->width[*row] - columns);
			}
		}
	}
	return failed ? -1 : 0;
}

/* ---- the terminal ---- */

static void write_all(struct view *v, struct bytes *b)
{
	struct why ignored;     /* a terminal that is gone ends the input, too */

	if (!b->failed)
		io_write(v->fd, b->p, b->n, &ignored);
	bytes_free(b);
}

static void move(struct bytes *b, size_t rows, char direction)
{
	char s[32];

	if (rows) {
		snprintf(s, sizeof s, "\033[%zu%c", rows, direction);
		bytes_puts(b, s);
	}
}

/* The number of rows between the top of the text and the cursor, on a terminal that has re-wrapped them at another
 * width. */
static size_t rows_above(const struct view *v, int columns)
{
	size_t above = 0;

	for (size_t i = v->top; i < v->top + v->row && i < v->n_rows; i++)
		above += v->width[i] ? (size_t)((v->width[i] - 1) / columns) + 1 : 1;
	return above + v->column / (size_t)columns;
}

void view_draw(struct view *v, const char *prompt, const char *text, size_t n, size_t at)
{
	struct bytes b = { .limit = VIEW_BYTES };
	size_t row, column, last;
	int columns, rows;

	v->out.limit = VIEW_BYTES;
	system_terminal_size(v->fd, &columns, &rows);
	move(&b, columns == v->columns ? v->row : v->columns ? rows_above(v, columns) : 0, 'A');
	v->columns = columns;
	v->rows = rows;
	if (lay_out(v, prompt, text, n, at, &row, &column)) {
		bytes_free(&b);
		return;
	}
	if (row < v->top)
		v->top = row;
	if (row >= v->top + (size_t)rows)
		v->top = row + 1 - (size_t)rows;
	if (v->n_rows <= (size_t)rows)
		v->top = 0;
	last = size_min(v->n_rows, v->top + (size_t)rows);
	bytes_puts(&b, "\r\033[J");
	for (size_t i = v->top; i < last; i++) {
		size_t end = i + 1 < v->n_rows ? v->start[i + 1] : v->out.n;

		if (i > v->top)
			bytes_puts(&b, "\r\n");
		bytes_put(&b, v->out.p + v->start[i], end - v->start[i]);
	}
	move(&b, last - 1 - row, 'A');
	bytes_puts(&b, "\r");
	move(&b, column, 'C');
	v->row = row - v->top;
	v->column = column;
	write_all(v, &b);
}

void view_leave(struct view *v)
{
	struct bytes b = { .limit = VIEW_BYTES };
	size_t last = size_min(v->n_rows, v->top + (size_t)v->rows);

	move(&b, last ? last - 1 - v->top - v->row : 0, 'B');
	bytes_puts(&b, "\r\n");
	write_all(v, &b);
	view_forget(v);
}

void view_forget(struct view *v)
{
	v->n_rows = v->row = v->column = v->top = 0;
	v->columns = 0;
}

void view_close(struct view *v)
{
	bytes_free(&v->out);
	free(v->start);
	free(v->width);
}
