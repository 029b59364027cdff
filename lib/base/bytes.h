/* bytes: a buffer that grows as bytes are appended, up to a limit. Errors are sticky, so a writer may append many times
 * and check once, at the end. Initialise with `struct bytes b = { .limit = N }`; the owner calls bytes_free(). */
#ifndef BYTES_H
#define BYTES_H

#include <stddef.h>

struct bytes {
	size_t limit;
	char *p;                    /* p[n], not terminated; NULL while n is 0 */
	size_t n, cap;
	int failed;                 /* set by the first append that failed */
};

/* Appends s[n]; 0, or -1 when the limit or the system's memory is reached, now or before. */
int bytes_put(struct bytes *b, const char *s, size_t n);

/* Makes room for n more bytes at p[n..cap), for a caller that writes them there itself. As bytes_put() otherwise. */
int bytes_reserve(struct bytes *b, size_t n);

/* Appends a terminated string. */
int bytes_puts(struct bytes *b, const char *s);

/* Appends what printf() prints. */
int bytes_print(struct bytes *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* p[n], not terminated, for those who want no NULL: "" while n is 0. */
static inline const char *bytes_text(const struct bytes *b)
{
	return b->p ? b->p : "";
}

void bytes_free(struct bytes *b);

#endif
