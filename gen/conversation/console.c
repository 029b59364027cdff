/* Reading the user's lines: with the editor of lib/term if the terminal can move its cursor, otherwise byte by byte. */
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"
#include "lib/base/utf8.h"
#include "lib/base/visible.h"
#include "lib/term/tty.h"
#include "show.h"

enum { TURN_MAX = 64 << 20 };   /* bytes of a line */

static volatile sig_atomic_t presses;   /* number of ^C since the last line */
static volatile sig_atomic_t answering;
static volatile sig_atomic_t opened;
static volatile sig_atomic_t ended;     /* the user has ended the conversation */
static const char *first;               /* [first_n]: a turn before those of standard input, or NULL */
static size_t first_n;
static const char *program = "gen";
static int prompted;                    /* a prompt is on the screen */
static struct bytes line = { .limit = TURN_MAX };
static struct edit editor = { .view.fd = STDOUT_FILENO, .typed.text.limit = TURN_MAX };
static int edits;                       /* the line editor is in use */

int console_edits(void)
{
	return isatty(STDIN_FILENO) && tty_moves(STDOUT_FILENO);
}

static void show(const char *text)
{
	struct why ignored;     /* the error of a terminal that is gone also ends the input */

	if (prompted)
		io_write(STDOUT_FILENO, text, strlen(text), &ignored);
}

int console_interrupt(void)
{
	if (ended)
		return 1;
	if (!opened)
		return 0;
	presses++;
	if (answering)
		return presses == 1;
	if (edits) {
		edit_interrupt();
		return 1;
	}
	if (presses == 1)
		show("\n(^C again or ^D ends)\n" CONSOLE_PROMPT);
	else if (dup2(open("/dev/null", O_RDONLY), STDIN_FILENO) < 0)
		return 0;
	return 1;       /* the input has ended, even for a read that is waiting */
}

int console_ended(void)
{
	return ended;
}

int console_cancelled(void)
{
	return presses > 0;
}

/* Opens the file of earlier lines. It is in the directory for state that users can do without. */
static void recall(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char path[4096];

	if (state && *state == '/')
		snprintf(path, sizeof path, "%s/lmpipe/gen_history", state);
	else
		snprintf(path, sizeof path, "%s/.local/state/lmpipe/gen_history", home ? home : "");
	if ((state && *state == '/') || (home && *home == '/'))
		recall_open(&editor.recall, path);
}

int console_open(const char *turn, size_t n, int interactive, edit_completions *complete, struct why *w)
{
	first = turn, first_n = n;
	prompted = interactive && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if ((edits = complete != NULL)) {
		editor.complete = complete;
		recall();
		show_open(STDOUT_FILENO);
		if (tty_open(STDIN_FILENO))
			return why(w, "standard input: %s", strerror(errno));
		tty_set(TTY_QUIET);
	} else if (!first)
		show(CONSOLE_PROMPT);
	opened = 1;
	return 0;
}

void console_close(void)
{
	opened = 0;
	if (edits) {
		tty_restore();
		show_close();
		recall_close(&editor.recall);
		edit_close(&editor);
	} else
		show("\n");
	bytes_free(&line);
}

void console_restore(void)
{
	tty_restore();
}

void console_name(const char *name)
{
	program = name;
}

void console_say(const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	if (edits)
		show_line();
	fprintf(stderr, "%s: %s\n", program, text);
}

/* The next byte of the input, or EOF; *failed: reading failed. */
static int next_byte(int *failed)
{
	static char part[16384];
	static ssize_t have, used;

	if (used == have) {
		used = 0;
		have = io_read(STDIN_FILENO, part, sizeof part);
	}
	*failed = have < 0;
	return have > 0 ? (unsigned char)part[used++] : EOF;
}

/* Reads a line, without its end (LF or CRLF) and without a byte-order mark at the start of the input, into `line`.
 * Returns 1; 0 at the end of the input; -1 with a reason. */
static int read_line(struct why *w)
{
	static int begun;
	int failed, byte;
	size_t mark;

	line.n = 0;
	while ((byte = next_byte(&failed)) != EOF && byte != '\n')
		if (bytes_put(&line, &(char){ (char)byte }, 1))
			return why(w, "standard input: a line of more than %d MiB", TURN_MAX >> 20);
	if (failed)
		return why(w, "standard input: %s", strerror(errno));
	line.n -= byte == '\n' && line.n && line.p[line.n - 1] == '\r';
	mark = begun++ || !line.n ? 0 : utf8_mark(line.p, line.n);
	line.n -= mark;
	if (mark)
		memmove(line.p, line.p + mark, line.n);
	return (byte != EOF || line.n) && presses < 2;
}

static void show_hint(void)
{
	static const char hint[] = "(^C again or ^D ends)\n";
	struct why ignored;

	io_write(STDOUT_FILENO, hint, sizeof hint - 1, &ignored);
}

/* Reads a line with the editor. ^C clears it; a second one in a row ends the conversation, as ^D does. */
static int edit_turn(void)
{
	static const char quotes[] = "\"\"\"";
	const size_t n = sizeof quotes - 1;
	struct bytes *b = &editor.typed.text;
	enum edit_end end;

	for (;;) {
		end = edit_line(&editor, CONSOLE_PROMPT);
		if (end == EDIT_EOF || (end == EDIT_INTERRUPT && !b->n && presses++))
			return 0;
		if (end == EDIT_INTERRUPT) {
			if (b->n)
				presses = 0;
			else
				show_hint();
			continue;
		}
		presses = 0;
		if (space_leading(b->p, b->n) == b->n)
			continue;
		recall_add(&editor.recall, b->p, b->n);
		line.n = 0;
		if (b->n >= 2 * n && !memcmp(b->p, quotes, n) && !memcmp(b->p + b->n - n, quotes, n))
			bytes_put(&line, b->p + n, b->n - 2 * n);
		else
			bytes_put(&line, b->p, b->n);
		bytes_put(&line, "", 1);
		line.n--;
		return 1;
	}
}

/* ---- consent ---- */

static void put_shown(void *context, const char *s, size_t n)
{
	fwrite(s, 1, n, stderr);
}

/* The first letter of a line that the user types on the terminal of standard error, or EOF. */
static int read_letter(const char *name, const char *arguments, size_t n)
{
	int fd = open("/dev/tty", O_RDONLY | O_CLOEXEC), in = fd < 0 ? STDERR_FILENO : fd, letter = EOF;
	struct visible visible = { .n = 0 };
	char c = 0;

	tcflush(in, TCIFLUSH);
	fprintf(stderr, "%s: run %s ", program, name);
	visible_put(&visible, arguments, n, put_shown, NULL);
	fprintf(stderr, "? [y/N/a] ");
	while (io_read(in, &c, 1) == 1 && c != '\n')
		letter = letter == EOF ? c : letter;
	if (c != '\n')
		fputc('\n', stderr);
	if (fd >= 0)
		close(fd);
	return letter;
}

/* The same with the line editor, where the call is on the screen already. */
static int edit_letter(const char *name)
{
	struct edit question = { .in = STDIN_FILENO, .view.fd = STDOUT_FILENO, .typed.text.limit = TURN_MAX };
	enum edit_end end;
	char prompt[128];
	int letter;

	snprintf(prompt, sizeof prompt, "run %.64s? [y/N/a] ", name);
	tcflush(STDIN_FILENO, TCIFLUSH);
	answering = 0;
	end = edit_line(&question, prompt);
	answering = 1;
	presses = end == EDIT_INTERRUPT;
	letter = end == EDIT_LINE && question.typed.text.n ? *question.typed.text.p : EOF;
	edit_close(&question);
	return letter;
}

enum console_consent console_ask(const char *name, const char *arguments, size_t n)
{
	int letter = edits ? edit_letter(name) : read_letter(name, arguments, n);

	return letter == 'a' || letter == 'A' ? CONSOLE_ALL : letter == 'y' || letter == 'Y' ? CONSOLE_YES : CONSOLE_NO;
}

int console_turn(const char **text, size_t *n, struct why *w)
{
	int got = 1;

	answering = 0;
	if (edits)
		presses = 0;
	if (first) {
		line.n = 0;
		got = bytes_put(&line, first, first_n) || bytes_put(&line, "", 1)
			? why(w, "a turn of more than %d MiB", TURN_MAX >> 20) : 1;
		line.n -= got > 0;
		first = NULL;
	} else if (edits) {
		show_gap();
		got = edit_turn();
	} else
		while ((got = read_line(w)) > 0 && space_leading(line.p, line.n) == line.n)
			show(CONSOLE_PROMPT);
	presses = 0;
	answering = got;
	ended = !got;
	*text = line.p;
	*n = line.n;
	return got;
}
