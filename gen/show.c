/* A model's answer on a terminal. */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"
#include "lib/stream/stop.h"

enum mode { ANSWER, THOUGHT, CALL };

/* What begins and ends a part of an answer, in the templates of many families. */
static const struct {
	const char *text;
	enum mode mode;         /* of what follows */
} tags[] = {
	{ "<think>", THOUGHT }, { "</think>", ANSWER }, { "<thinking>", THOUGHT }, { "</thinking>", ANSWER },
	{ "<seed:think>", THOUGHT }, { "</seed:think>", ANSWER }, { "[THINK]", THOUGHT }, { "[/THINK]", ANSWER },
	{ "<|START_THINKING|>", THOUGHT }, { "<|END_THINKING|>", ANSWER },
	{ "<tool_call>", CALL }, { "</tool_call>", ANSWER }, { "<|tool_call>", CALL }, { "<tool_call|>", ANSWER },
	{ "[TOOL_CALLS]", CALL }, { "<function_call>", CALL }, { "</function_call>", ANSWER }
};

enum { TAGS = sizeof tags / sizeof *tags };

static const char *const colours[] = { [ANSWER] = "\033[0m", [THOUGHT] = "\033[2m", [CALL] = "\033[36m" };

static struct {
	struct stop *tags;
	struct bytes out;
	int fd, coloured, folds;
	enum mode mode;
	size_t words;           /* of the thought */
	int in_word;
	int blank;              /* nothing of this part was shown yet */
	unsigned char before;   /* the byte before: 0xc2, with which C1 control characters begin, waits for the next */
	int at_start;           /* the cursor is at the beginning of a line */
} show = { .out.limit = 1 << 24, .at_start = 1 };

static void flush(void)
{
	struct why ignored;     /* a terminal that is gone ends the input, too */

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

static void colour(enum mode mode)
{
	if (show.coloured)
		bytes_puts(&show.out, colours[mode]);
}

static void count_word(unsigned char c)
{
	int space = c == ' ' || c == '\t' || c == '\n';

	show.words += !space && !show.in_word;
	show.in_word = !space;
}

/* A byte of text: control characters as ^X, those past ASCII as ?; but lines and tabs. */
static void put_byte(unsigned char c)
{
	if (show.mode == THOUGHT)
		count_word(c);
	if (show.mode == THOUGHT && show.folds)
		return;
	/* The white space after a tag that is not shown. */
	if (show.blank && (c == '\n' || c == ' '))
		return;
	show.blank = 0;
	if (show.before == 0xc2)
		write_text(c >= 0x80 && c < 0xa0 ? "?" : "\xc2", 1);
	if ((show.before == 0xc2 && c >= 0x80 && c < 0xa0) || c == 0xc2)
		;
	else if ((c < ' ' && c != '\n' && c != '\t') || c == 127)
		write_text((char[]){ '^', (char)(c ^ 64) }, 2);
	else
		write_text((const char *)&c, 1);
	show.before = c;
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

/* Thoughts that no colour tells from the answer keep their tags. */
static void end_thought(const char *tag)
{
	char line[64];

	if (show.folds) {
		bytes_puts(&show.out, "\r\033[K");
		colour(THOUGHT);
		snprintf(line, sizeof line, "(a thought of %zu word%s)", show.words, show.words == 1 ? "" : "s");
		write_text(line, strlen(line));
	}
	colour(ANSWER);
	new_line();
	if (!show.folds && !show.coloured)
		write_text(tag, strlen(tag));
	if (!show.folds && show.words)
		write_text("\n", 1);
	show.blank = 1;
}

/* A thought goes on lines of its own. */
static void begin_thought(const char *tag)
{
	new_line();
	colour(THOUGHT);
	if (!show.folds && !show.coloured) {
		write_text(tag, strlen(tag));
		write_text("\n", 1);
	}
	if (show.folds)
		write_text("(thinking)", 10);
	show.words = 0;
	show.in_word = 0;
	show.blank = 1;
}

/* Tags of thoughts are not shown where colours tell them. */
static void follow(int tag)
{
	enum mode before = show.mode, mode = tags[tag].mode;

	if (mode == before)
		return;
	if (before == THOUGHT)
		end_thought(tags[tag].text);
	else if (before == CALL) {
		put(NULL, tags[tag].text, strlen(tags[tag].text));
		colour(ANSWER);
	}
	show.mode = mode;
	if (mode == THOUGHT)
		begin_thought(tags[tag].text);
	else if (mode == CALL) {
		show.blank = 0;
		new_line();
		colour(CALL);
		put(NULL, tags[tag].text, strlen(tags[tag].text));
	}
}

int show_open(int fd, struct why *w)
{
	const char *no = getenv("NO_COLOR");

	show.fd = fd;
	show.coloured = !no || !*no;
	if (!(show.tags = stop_open(w)))
		return -1;
	for (int i = 0; i < TAGS; i++)
		if (stop_add(show.tags, tags[i].text, strlen(tags[i].text), w) < 0)
			return -1;
	return 0;
}

void show_close(void)
{
	stop_close(show.tags);
	show.tags = NULL;
	bytes_free(&show.out);
}

void show_fold(int fold)
{
	show.folds = fold;
}

int show_ends_thinking(const char *text, size_t n)
{
	n = space_trimmed(text, n);
	for (int i = 0; i < TAGS; i++) {
		size_t length = strlen(tags[i].text);

		if (tags[i].mode == THOUGHT && n >= length && !memcmp(text + n - length, tags[i].text, length))
			return 1;
	}
	return 0;
}

void show_begin(int thinking)
{
	show.mode = thinking ? THOUGHT : ANSWER;
	show.blank = 0;
	show.before = 0;
	show.at_start = 1;
	if (thinking)
		begin_thought(tags[0].text);
	flush();
}

void show_text(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int tag = stop_feed(show.tags, s + i, 1, put, NULL);

		if (tag >= 0) {
			stop_start(show.tags);
			follow(tag);
		}
	}
	flush();
}

void show_line(void)
{
	colour(ANSWER);
	new_line();
	flush();
}

void show_end(void)
{
	stop_end(show.tags, put, NULL);
	if (show.mode == THOUGHT)
		end_thought(tags[1].text);
	else if (show.mode == CALL)
		colour(ANSWER);
	show.mode = ANSWER;
	new_line();
	flush();
}
