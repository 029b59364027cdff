/* The user's side of a conversation. */
#include "console.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

#include "lib/base/io.h"
#include "lib/stream/frame.h"

enum { TURN_MAX = 64 << 20 };   /* bytes of a line */

static volatile sig_atomic_t presses;   /* of ^C since the last line */
static volatile sig_atomic_t answering, quitting;

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

static void show(const struct console *p, const char *text)
{
	struct why ignored;     /* a terminal that is gone ends the input, too */

	if (p->prompted)
		io_write(STDOUT_FILENO, text, strlen(text), &ignored);
}

void console_open(struct console *p, const char *first, int interactive)
{
	*p = (struct console){ .first = first, .lines = { .limit = TURN_MAX } };
	p->prompted = interactive && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (!first)
		show(p, CONSOLE_PROMPT);
}

void console_close(struct console *p)
{
	bytes_free(&p->lines);
}

/* Waits for input: 1 when there is some, 0 after a signal, which cannot slip in before the wait. */
static int await(void)
{
	sigset_t block, before;
	fd_set in;
	int then, ready = 0;

	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigprocmask(SIG_BLOCK, &block, &before);
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

/* Reads on. 0, or -1 with a reason; p->ended at the end. */
static int more(struct console *p, struct why *w)
{
	char part[16384];
	ssize_t n;

	if (!await()) {
		p->ended = quitting || presses > 1;
		if (p->ended)
			p->from = p->lines.n;
		else
			show(p, "\n(^C again or ^D ends)\n" CONSOLE_PROMPT);
		return 0;
	}
	n = read(STDIN_FILENO, part, sizeof part);
	if (n < 0 && errno != EINTR && errno != EAGAIN)
		return why(w, "standard input: %s", strerror(errno));
	p->ended = n == 0;
	if (n > 0 && bytes_put(&p->lines, part, (size_t)n))
		return why(w, "standard input: a line of more than %d MiB", TURN_MAX >> 20);
	return 0;
}

/* A whole line of what was read; at the end of the input also one without an end. 1 or 0. */
static int line(struct console *p, const char **text, size_t *n)
{
	const char *s = p->lines.p + p->from, *end;

	if (p->from == p->lines.n)
		return 0;
	end = memchr(p->lines.p + p->seen, '\n', p->lines.n - p->seen);
	p->seen = p->lines.n;
	if (!end && !p->ended)
		return 0;
	*text = s;
	*n = (size_t)((end ? end : p->lines.p + p->lines.n) - s);
	p->from = p->seen = p->from + *n + (end != NULL);
	return 1;
}

static int blank(const char *s, size_t n)
{
	while (n && strchr(" \t\r", s[n - 1]) && s[n - 1])
		n--;
	return !n;
}

int console_turn(struct console *p, const char **text, size_t *n, struct why *w)
{
	int found = p->first != NULL;

	answering = 0;
	if (found) {
		*text = p->first;
		*n = strlen(p->first);
		p->first = NULL;
	}
	if (p->from) {
		memmove(p->lines.p, p->lines.p + p->from, p->lines.n - p->from);
		p->lines.n -= p->from;
		p->from = p->seen = 0;
	}
	while (!found) {
		found = line(p, text, n);
		if (found && blank(*text, *n)) {
			found = 0;
			show(p, CONSOLE_PROMPT);
		} else if (!found && p->ended) {
			return 0;
		} else if (!found && more(p, w)) {
			return -1;
		}
	}
	presses = 0;
	answering = 1;
	return 1;
}
