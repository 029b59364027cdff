/* out: one buffer in front of descriptor 1. */
#include "out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "quote.h"
#include "visible.h"

static struct {
	char bytes[1 << 16];
	size_t n;
	int failed;
	struct why why;         /* of the first failure */
} out;

static void write_out(const void *bytes, size_t n)
{
	if (n && !out.failed && io_write(1, bytes, n, &out.why))
		out.failed = 1;
}

static void make_room(size_t n)
{
	if (n > sizeof out.bytes - out.n) {
		write_out(out.bytes, out.n);
		out.n = 0;
	}
}

void out_bytes(const void *bytes, size_t n)
{
	make_room(n);
	if (n > sizeof out.bytes) {
		write_out(bytes, n);
		return;
	}
	if (n)
		memcpy(out.bytes + out.n, bytes, n);
	out.n += n;
}

void out_text(const char *s)
{
	out_bytes(s, strlen(s));
}

void out_char(char c)
{
	make_room(1);
	out.bytes[out.n++] = c;
}

static char last_shown = '\n';   /* on a terminal */

static void put_shown(void *context, const char *s, size_t n)
{
	out_bytes(s, n);
	if (n)
		last_shown = s[n - 1];
}

static struct visible shown;

void out_shown(const char *s, size_t n)
{
	static int terminal = -1;

	if (terminal < 0)
		terminal = isatty(STDOUT_FILENO);
	if (terminal)
		visible_put(&shown, s, n, put_shown, NULL);
	else
		out_bytes(s, n);
}

void out_shown_end(void)
{
	visible_end(&shown, put_shown, NULL);
}

void out_shown_close(void)
{
	out_shown_end();
	if (last_shown != '\n')
		out_char('\n');
	last_shown = '\n';
}

void out_quoted(const char *s, size_t n, char mark)
{
	char c[QUOTE_ROOM];
	unsigned used;

	for (size_t i = 0; i < n; i += used)
		out_bytes(c, quote_next(s + i, n - i, mark, c, &used));
}

void out_print(const char *format, ...)
{
	va_list ap;
	int n;

	make_room(OUT_FORMAT);
	va_start(ap, format);
	n = vsnprintf(out.bytes + out.n, OUT_FORMAT, format, ap);
	va_end(ap);
	if (n > 0)
		out.n += n < OUT_FORMAT ? (size_t)n : OUT_FORMAT - 1;
}

int out_flush(struct why *w)
{
	write_out(out.bytes, out.n);
	out.n = 0;
	if (!out.failed)
		return 0;
	*w = out.why;
	return -1;
}
