/* The user's side of a conversation. */
#include "console.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"

enum { TURN_MAX = 64 << 20 };   /* bytes of a line */

static volatile sig_atomic_t presses;   /* of ^C since the last line */
static volatile sig_atomic_t answering, quitting;

static struct {
	const char *first;
	int prompted;           /* a prompt is shown */
	int ended;
	struct bytes lines;     /* what was read; */
	size_t from, seen;      /* where the next line begins, and up to where there is no further end of a line */
} console;

int console_interrupt(void)
{
	presses++;
	return !answering || presses == 1;
}

void console_quit(void)
{
	quitting = 1;
}

int console_cancelled(void)
{
	return presses > 0;
}

static void show(const char *text)
{
	struct why ignored;     /* a terminal that is gone ends the input, too */

	if (console.prompted)
		io_write(STDOUT_FILENO, text, strlen(text), &ignored);
}

void console_open(const char *first, int interactive)
{
	console.first = first;
	console.lines.limit = TURN_MAX;
	console.prompted = interactive && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (!first)
		show(CONSOLE_PROMPT);
}

void console_close(void)
{
	show("\n");
	bytes_free(&console.lines);
}

/* Waits for input: 1 when there is some, 0 after a signal, which cannot slip in before the wait. */
static int await(void)
{
	sigset_t all, before;
	fd_set in;
	int then, ready = 0;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (then = presses; !ready && presses == then && !quitting;) {
		FD_ZERO(&in);
		FD_SET(STDIN_FILENO, &in);
		ready = pselect(STDIN_FILENO + 1, &in, NULL, NULL, NULL, &before);
		if (ready < 0 && errno == EINTR)
			ready = 0;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ready != 0;
}

/* Reads on. 0, or -1 with a reason; console.ended at the end. */
static int more(struct why *w)
{
	struct bytes *b = &console.lines;
	char part[16384];
	ssize_t n;

	if (!await()) {
		console.ended = quitting || presses > 1;
		if (console.ended)
			console.from = b->n;
		else
			show("\n(^C again or ^D ends)\n" CONSOLE_PROMPT);
		return 0;
	}
	n = read(STDIN_FILENO, part, sizeof part);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return why(w, "standard input: %s", strerror(errno));
	console.ended = n == 0;
	if (n <= 0)
		return 0;
	if (console.from)
		memmove(b->p, b->p + console.from, b->n - console.from);
	b->n -= console.from;
	console.seen -= console.from;
	console.from = 0;
	return bytes_put(b, part, (size_t)n) ? why(w, "standard input: a line of more than %d MiB", TURN_MAX >> 20) : 0;
}

/* A whole line of what was read; at the end of the input also one without an end. 1 or 0. */
static int line(const char **text, size_t *n)
{
	const struct bytes *b = &console.lines;
	const char *end;

	if (console.from == b->n)
		return 0;
	end = memchr(b->p + console.seen, '\n', b->n - console.seen);
	console.seen = b->n;
	if (!end && !console.ended)
		return 0;
	*text = b->p + console.from;
	*n = (size_t)((end ? end : b->p + b->n) - *text);
	console.from = console.seen = console.from + *n + (end != NULL);
	return 1;
}

int console_turn(const char **text, size_t *n, struct why *w)
{
	int found = console.first != NULL;

	answering = 0;
	if (found) {
		*text = console.first;
		*n = strlen(console.first);
		console.first = NULL;
	}
	while (!found) {
		found = line(text, n);
		if (found && space_leading(*text, *n) == *n) {
			found = 0;
			show(CONSOLE_PROMPT);
		} else if (!found && console.ended) {
			return 0;
		} else if (!found && more(w)) {
			return -1;
		}
	}
	presses = 0;
	answering = 1;
	return 1;
}
