/* Bytes go one at a time from the parts of an answer, through a filter of control characters, to a buffer. */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"
#include "lib/base/visible.h"
#include "lib/term/wrap.h"

enum section { SECTION_CONTENT, SECTION_THOUGHT, SECTION_CALL };

static const char *const colours[] = {
	[SECTION_CONTENT] = "\033[0m", [SECTION_THOUGHT] = "\033[2m", [SECTION_CALL] = "\033[36m"
};

static struct {
	struct answer *reader;  /* of the current answer; NULL: there was no memory for it */
	enum section now;
	struct bytes out;
	int fd, coloured, folds;
	size_t words;           /* of the thought */
	int in_word;
	int blank;              /* nothing of this section has been shown yet */
	struct visible visible; /* a character may be divided between two pieces of text */
	struct wrap wrap;
	int at_start;           /* the cursor is at the start of a line */
	int answered;           /* an answer has ended since the last gap */
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

static void put_wrapped(void *context, const char *s, size_t n)
{
	write_text(s, n);
}

static void put_visible(void *context, const char *s, size_t n)
{
	wrap_put(&show.wrap, s, n, put_wrapped, NULL);
}

/* Prints a byte of text. */
static void put_byte(unsigned char c)
{
	if (show.now == SECTION_THOUGHT)
		count_word(c);
	if (show.now == SECTION_THOUGHT && show.folds)
		return;
	/* drop the white space after a mark that is not shown */
	if (show.blank && (c == '\n' || c == ' '))
		return;
	show.blank = 0;
	visible_put(&show.visible, (const char *)&c, 1, put_visible, NULL);
}

static void put(struct span text)
{
	for (size_t i = 0; i < text.n; i++)
		put_byte((unsigned char)text.s[i]);
}

static void new_line(void)
{
	if (!show.at_start)
		write_text("\n", 1);
	wrap_line(&show.wrap);
}

/* Without colours, thoughts have marks. */
static void end_thought(void)
{
	char line[64];

	if (show.folds) {
		bytes_puts(&show.out, "\r\033[K");
		colour(SECTION_THOUGHT);
		snprintf(line, sizeof line, "(a thought of %zu word%s)", show.words, show.words == 1 ? "" : "s");
		write_text(line, strlen(line));
	}
	colour(SECTION_CONTENT);
	new_line();
	if (!show.folds && !show.coloured)
		write_text("</think>", 8);
	if (!show.folds && show.words)
		write_text("\n", 1);
	show.blank = 1;
}

/* Shows a thought on separate lines. */
static void begin_thought(void)
{
	new_line();
	colour(SECTION_THOUGHT);
	if (!show.folds && !show.coloured)
		write_text("<think>\n", 8);
	if (show.folds)
		write_text("(thinking)", 10);
	show.words = 0;
	show.in_word = 0;
	show.blank = 1;
}

/* Begins a section: a call, or other text if the last one was of another kind. */
static void turn(enum section to)
{
	if (to == show.now && to != SECTION_CALL)
		return;
	if (show.now == SECTION_THOUGHT)
		end_thought();
	if (show.now == SECTION_CALL || to == SECTION_CALL) {
		colour(SECTION_CONTENT);
		new_line();
		show.blank = to != SECTION_CALL;
	}
	if (to == SECTION_THOUGHT)
		begin_thought();
	else if (to == SECTION_CALL)
		colour(SECTION_CALL);
	show.now = to;
}

static void tell(void *context, enum answer_part part, struct span text)
{
	if (part == ANSWER_ID)
		return;
	if (part != ANSWER_ARGUMENTS)
		turn(part == ANSWER_REASONING ? SECTION_THOUGHT : SECTION_CONTENT);
	put(text);
}

static void call(void *context, struct span name, struct span id)
{
	turn(SECTION_CALL);
	put(name);
	put_byte(' ');
}

void show_open(int fd)
{
	const char *no = getenv("NO_COLOR");

	show.fd = fd;
	show.coloured = !no || !*no;
}

void show_close(void)
{
	answer_close(show.reader);
	show.reader = NULL;
	bytes_free(&show.out);
}

void show_fold(int fold)
{
	show.folds = fold;
}

void show_begin(const struct parser *p)
{
	static const struct answer_sink sink = { tell, call, NULL };
	struct why ignored;

	show.now = SECTION_CONTENT;
	show.blank = 0;
	show.visible.n = 0;
	show.at_start = 1;
	wrap_begin(&show.wrap, show.fd);
	show.reader = parser_begin(p, &sink, &ignored);
}

void show_text(const char *s, size_t n)
{
	if (show.reader)
		answer_read(show.reader, s, n);
	flush();
}

void show_line(void)
{
	colour(SECTION_CONTENT);
	new_line();
	flush();
}

void show_end(void)
{
	if (show.reader)
		answer_end(show.reader);
	answer_close(show.reader);
	show.reader = NULL;
	turn(SECTION_CONTENT);
	visible_end(&show.visible, put_visible, NULL);
	new_line();
	flush();
	show.answered = 1;
}

void show_gap(void)
{
	if (show.answered)
		write_text("\n", 1);
	show.answered = 0;
	flush();
}
