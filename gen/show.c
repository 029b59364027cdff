/* Bytes go one at a time from the sections of an answer, through a filter of control characters, to a buffer. */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"
#include "lib/base/visible.h"

static const char *const colours[] = {
	[SECTION_ANSWER] = "\033[0m", [SECTION_THOUGHT] = "\033[2m", [SECTION_CALL] = "\033[36m"
};

static struct {
	struct sections answer;
	struct bytes out;
	int fd, coloured, folds;
	size_t words;           /* of the thought */
	int in_word;
	int blank;              /* nothing of this section has been shown yet */
	struct visible visible; /* a character may be divided between two pieces of text */
	int at_start;           /* the cursor is at the start of a line */
} show = { .out.limit = 1 << 24, .at_start = 1 };

static void flush(void)
{
	struct why ignored;     /* the error of a terminal that is gone also ends the input */

	if (show.out.n)
		io_write(show.fd, show.out.p, show.out.n, &ignored);
	show.out.n = 0;
	show.out.failed = 0;
}

static void write_text(const char *s, size_t n)
{
	if (bytes_put(&show.out, s, n)) {
		flush();
		bytes_put(&show.out, s, n);
	}
	if (n)
		show.at_start = s[n - 1] == '\n';
}

static void colour(enum section section)
{
	if (show.coloured)
		bytes_puts(&show.out, colours[section]);
}

static void count_word(unsigned char c)
{
	show.words += !space_ascii(c) && !show.in_word;
	show.in_word = !space_ascii(c);
}

static void put_visible(void *context, const char *s, size_t n)
{
	write_text(s, n);
}

/* Prints a byte of text. */
static void put_byte(unsigned char c)
{
	if (show.answer.now == SECTION_THOUGHT)
		count_word(c);
	if (show.answer.now == SECTION_THOUGHT && show.folds)
		return;
	/* drop the white space after a tag that is not shown */
	if (show.blank && (c == '\n' || c == ' '))
		return;
	show.blank = 0;
	visible_put(&show.visible, (const char *)&c, 1, put_visible, NULL);
}

static void put(void *context, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_byte((unsigned char)s[i]);
}

static void new_line(void)
{
	if (!show.at_start)
		write_text("\n", 1);
}

/* Without colours, thoughts keep their marks. */
static void end_thought(const char *mark)
{
	char line[64];

	if (show.folds) {
		bytes_puts(&show.out, "\r\033[K");
		colour(SECTION_THOUGHT);
		snprintf(line, sizeof line, "(a thought of %zu word%s)", show.words, show.words == 1 ? "" : "s");
		write_text(line, strlen(line));
	}
	colour(SECTION_ANSWER);
	new_line();
	if (!show.folds && !show.coloured)
		write_text(mark, strlen(mark));
	if (!show.folds && show.words)
		write_text("\n", 1);
	show.blank = 1;
}

/* Shows a thought on separate lines. */
static void begin_thought(const char *mark)
{
	new_line();
	colour(SECTION_THOUGHT);
	if (!show.folds && !show.coloured) {
		write_text(mark, strlen(mark));
		write_text("\n", 1);
	}
	if (show.folds)
		write_text("(thinking)", 10);
	show.words = 0;
	show.in_word = 0;
	show.blank = 1;
}

/* Begins another section. With colours, the marks of thoughts are not shown. */
static void turn(void *context, enum section from, const char *mark)
{
	enum section to = show.answer.now;

	if (from == SECTION_THOUGHT)
		end_thought(mark);
	else if (from == SECTION_CALL) {
		put(NULL, mark, strlen(mark));
		colour(SECTION_ANSWER);
		if (!*mark)
			new_line();
	}
	if (to == SECTION_THOUGHT)
		begin_thought(mark);
	else if (to == SECTION_CALL) {
		show.blank = 0;
		new_line();
		colour(SECTION_CALL);
		put(NULL, mark, strlen(mark));
	}
}

int show_open(int fd, struct why *w)
{
	const char *no = getenv("NO_COLOR");

	show.fd = fd;
	show.coloured = !no || !*no;
	show.answer.put = put;
	show.answer.turn = turn;
	return sections_open(&show.answer, w);
}

void show_close(void)
{
	sections_close(&show.answer);
	bytes_free(&show.out);
}

void show_fold(int fold)
{
	show.folds = fold;
}

void show_begin(struct opened opened)
{
	show.blank = 0;
	show.visible.n = 0;
	show.at_start = 1;
	sections_begin(&show.answer, opened);
	if (show.answer.now == SECTION_THOUGHT)
		begin_thought("<think>");
	flush();
}

void show_text(const char *s, size_t n)
{
	sections_feed(&show.answer, s, n);
	flush();
}

void show_line(void)
{
	colour(SECTION_ANSWER);
	new_line();
	flush();
}

void show_end(void)
{
	sections_end(&show.answer);
	visible_end(&show.visible, put_visible, NULL);
	new_line();
	flush();
}
