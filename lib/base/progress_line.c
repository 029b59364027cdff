#include "progress_line.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "system.h"

static int shown;

void progress_line(const char *format, ...)
{
	char line[256];
	int columns, rows;
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof line, format, ap);
	va_end(ap);
	system_terminal_size(STDERR_FILENO, &columns, &rows);
	fprintf(stderr, "\r%.*s\033[K", columns - 1, line);
	shown = 1;
}

void progress_line_clear(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = 0;
}
