/* The memory doubles as it fills up, up to the limit. */
#include "bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bytes_reserve(struct bytes *b, size_t n)
{
	size_t cap = b->cap < 128 ? 256 : b->cap < b->limit / 2 ? b->cap * 2 : b->limit;
	char *p;

	if (b->failed || n > b->limit || b->n > b->limit - n) {
		b->failed = 1;
		return -1;
	}
	if (b->n + n <= b->cap)
		return 0;
	if (cap > b->limit)
		cap = b->limit;
	if (cap < b->n + n)
		cap = b->n + n;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = 1;
		return -1;
	}
	b->p = p;
	b->cap = cap;
	return 0;
}

int bytes_put(struct bytes *b, const char *s, size_t n)
{
	if (bytes_reserve(b, n))
		return -1;
	if (n)
		memcpy(b->p + b->n, s, n);
	b->n += n;
	return 0;
}

int bytes_puts(struct bytes *b, const char *s)
{
	return bytes_put(b, s, strlen(s));
}

int bytes_print(struct bytes *b, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(NULL, 0, format, list);
	va_end(list);
	/* vsnprintf() also writes a NUL */
	if (n < 0 || bytes_reserve(b, (size_t)n + 1)) {
		b->failed = 1;
		return -1;
	}
	va_start(list, format);
	vsnprintf(b->p + b->n, (size_t)n + 1, format, list);
	va_end(list);
	b->n += (size_t)n;
	return 0;
}

void bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ .limit = b->limit };
}
