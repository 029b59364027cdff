/* The start and the end of every program, and the one line on stderr that says why it ends. */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"
#include "io.h"
#include "out.h"
#include "size.h"

static int error_fd = 2;        /* where the line goes */
static const char *caller = ""; /* what lines on stderr begin with */

/* $LMPIPE_ERROR_FD, if it is open when the program starts: later its number may be that of a file of our own. */
static void find_errors(void)
{
	const char *s = getenv("LMPIPE_ERROR_FD"), *prefix = getenv("LMPIPE_ERROR_PREFIX");
	int fd = s ? atoi(s) : 0;

	if (fd > 2 && fcntl(fd, F_GETFD) >= 0)
		error_fd = fd;
	if (prefix)
		caller = prefix;
}

/* One write(2) for the whole line, so that the stages of a pipeline do not interleave theirs; one line whatever the
 * words in it hold. */
static void print_line(const struct cli *c, int fd, const char *format, va_list ap)
{
	char line[1024];
	const char *prefix = fd == STDERR_FILENO ? caller : "";
	size_t n = size_min((size_t)snprintf(line, sizeof line / 2, "%.64s%s: ", prefix, c->program),
		sizeof line / 2 - 1);
	struct why ignored;

	vsnprintf(line + n, sizeof line - n - 1, format, ap);
	why_clean(line);
	n = strlen(line);
	line[n++] = '\n';
	io_write(fd, line, n, &ignored);
}

static _Noreturn void print_and_exit(const struct cli *c, int status, const char *format, va_list ap)
{
	struct why ignored;

	if (c->refused) {
		vsnprintf(c->refusal->text, sizeof c->refusal->text, format, ap);
		why_clean(c->refusal->text);
		longjmp(*c->refused, 1);
	}
	out_flush(&ignored);
	fflush(NULL);
	print_line(c, error_fd, format, ap);
	_exit(status);
}

void cli_line(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(c, error_fd, format, ap);
	va_end(ap);
}

void cli_warn(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_line(c, STDERR_FILENO, format, ap);
	va_end(ap);
}

_Noreturn void cli_failed(const struct cli *c, const char *format, ...)
{
	va_list ap;

	cli_end(c);
	va_start(ap, format);
	if (error_fd != STDERR_FILENO)
		print_line(c, error_fd, format, ap);
	_exit(1);
}

_Noreturn void cli_die(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, c->trouble ? c->trouble : 1, format, ap);
}

void cli_must(const struct cli *c, int failed, const struct why *w)
{
	if (failed)
		cli_die(c, "%s", w->text);
}

_Noreturn void cli_cut(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, 3, format, ap);
}

_Noreturn void cli_usage(const struct cli *c, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, 2, format, ap);
}

_Noreturn void cli_refuse(const struct cli *c, const char *format, ...)
{
	int memory = errno == ENOMEM;
	va_list ap;

	va_start(ap, format);
	print_and_exit(c, memory ? 1 : 2, format, ap);
}

void cli_start(struct cli *c, int argc, char **argv)
{
	static const char *const names[] = { "standard input", "standard output", "standard error" };
	int fd;

	c->argc = argc;
	c->argv = argv;
	/* exceeding the limit on file size should be an error of write(2), like a full disk, not a signal */
	signal(SIGXFSZ, SIG_IGN);
	guard_stack(c->program);
	find_errors();
	for (fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			cli_die(c, "%s: closed", names[fd]);
}

void cli_binary(const struct cli *c, int fd)
{
	if (isatty(fd))
		cli_usage(c, fd ? "standard output: a terminal; this writes binary frames: pipe it to a program or a "
			"file (try --help)"
			: "standard input: a terminal; this reads binary frames: pipe them in (try --help)");
}

int cli_end(const struct cli *c)
{
	struct why w;
	int failed;

	cli_must(c, out_flush(&w), &w);
	errno = 0;
	failed = fflush(stdout) || ferror(stdout);
	if (fclose(stdout) || failed)
		cli_die(c, "standard output: %s", errno ? strerror(errno) : "write error");
	return 0;
}
