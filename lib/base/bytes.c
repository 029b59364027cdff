/* The memory doubles as it fills up, up to the limit. */
#include "bytes.h"

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

void bytes_free(struct bytes *b)
{
	free(b->p);
	*b = (struct bytes){ .limit = b->limit };
}
