/* bytes: a buffer that grows as bytes are appended, up to a limit. A failure sticks, so a writer may append many times and look once, at
 * the end. Start from `struct bytes b = { .limit = N }`; whoever filled it calls bytes_free. */
#ifndef BYTES_H
#define BYTES_H

#include <stddef.h>

struct bytes {
	size_t limit;
	char *p;                    /* p[n], not terminated; NULL while n is 0 */
	size_t n, cap;
	int failed;                 /* set by the first append that found no room */
};

/* Appends s[n]; 0, or -1 when the limit or the system's memory is reached, now or before. */
int bytes_put(struct bytes *b, const char *s, size_t n);

/* Makes room for n more bytes at p[n..cap), for a caller that writes them there itself. As bytes_put() otherwise. */
int bytes_reserve(struct bytes *b, size_t n);

/* Appends a string up to its terminator. */
int bytes_puts(struct bytes *b, const char *s);

void bytes_free(struct bytes *b);

#endif
