/* The user's side of a conversation. */
#include "console.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/io.h"
#include "lib/base/space.h"

enum { TURN_MAX = 64 << 20 };   /* bytes of a line */

static volatile sig_atomic_t presses;   /* of ^C since the last line */
static volatile sig_atomic_t answering;
static const char *first;
static int prompted;                    /* a prompt is shown */
static struct bytes line = { .limit = TURN_MAX };

static void show(const char *text)
{
	struct why ignored;     /* a terminal that is gone ends the input, too */

	if (prompted)
		io_write(STDOUT_FILENO, text, strlen(text), &ignored);
}

int console_interrupt(void)
{
	presses++;
	if (answering)
		return presses == 1;
	if (presses == 1)
		show("\n(^C again or ^D ends)\n" CONSOLE_PROMPT);
	else    /* the end of the input, also for a read that waits */
		dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
	return 1;
}

int console_cancelled(void)
{
	return presses > 0;
}

void console_open(const char *turn, int interactive)
{
	first = turn;
	prompted = interactive && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	if (!first)
		show(CONSOLE_PROMPT);
}

void console_close(void)
{
	show("\n");
	bytes_free(&line);
}

/* The next byte of the input, or EOF; *failed: it could not be read. */
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

/* A line, without its end, into `line`. 1; 0 at the end of the input; -1 with a reason. */
static int read_line(struct why *w)
{
	int failed, byte;

	line.n = 0;
	while ((byte = next_byte(&failed)) != EOF && byte != '\n')
		if (bytes_put(&line, &(char){ (char)byte }, 1))
			return why(w, "standard input: a line of more than %d MiB", TURN_MAX >> 20);
	if (failed)
		return why(w, "standard input: %s", strerror(errno));
	return (byte != EOF || line.n) && presses < 2;
}

int console_turn(const char **text, size_t *n, struct why *w)
{
	int got = 1;

	answering = 0;
	if (first) {
		line.n = 0;
		got = bytes_put(&line, first, strlen(first)) ? why(w, "a turn of more than %d MiB", TURN_MAX >> 20) : 1;
		first = NULL;
	} else {
		while ((got = read_line(w)) > 0 && space_leading(line.p, line.n) == line.n)
			show(CONSOLE_PROMPT);
	}
	presses = 0;
	answering = got;
	*text = line.p;
	*n = line.n;
	return got;
}
