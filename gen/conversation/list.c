/* In a line of detok --lines, a new line of the text is \n, so each line is one answer. */
#include "list.h"

#include <unistd.h>

#include "lib/base/lines.h"
#include "lib/base/quote.h"
#include "alone.h"
#include "convert.h"
#include "display.h"
#include "parser.h"

static struct {
	struct parser parser;
	struct lines lines;
} list;

/* Shows the answer on the next line. Returns 1, 0 after the last, or -1. */
static int show_line(struct why *w)
{
	size_t n;
	char *line;
	int status = lines_next(&list.lines, &line, &n, w);

	if (status <= 0)
		return status;
	alone_begin(&list.parser);
	alone_text(line, quote_undo(line, n, line));
	alone_end();
	return alone_written(w) ? -1 : 1;
}

/* loop->show() */
static void show(struct loop *l)
{
	struct why ignored;
	int status;

	do
		status = show_line(&ignored);
	while (status > 0 && lines_ready(&list.lines));
	if (status <= 0) {
		l->text = -1;
		l->gone |= LOOP_COPY;
	}
}

int list_start(struct request *q, struct loop *l, struct why *w)
{
	struct messages question = { .text.limit = CONVERT_MAX, .file = -1 };
	int text[2], failed = messages_add(&question, "user", q->prompt, q->prompt_n, w);

	list.parser.q = q;
	parser_learn(&list.parser, &question);
	messages_close(&question);
	display_open_alone(q);
	if (failed || stage_pipe(text, w))
		return -1;
	lines_open_fd(&list.lines, text[0], "detok");
	l->text = text[0];
	l->show = show;
	return text[1];
}

int list_finish(struct loop *l, struct why *w)
{
	int status = 1;

	/* the end of its input ends detok */
	if (l->copy >= 0)
		close(l->copy);
	l->copy = -1;
	while (status > 0 && !l->gone)
		status = show_line(w);
	status = alone_written(w) ? -1 : status;
	lines_close(&list.lines);
	alone_close();
	parser_close(&list.parser);
	return status < 0 ? -1 : 0;
}
