/* width: how many terminal columns text takes. It has its own tables because wcwidth() depends on the locale, which
 * no program here sets. */
#ifndef WIDTH_H
#define WIDTH_H

#include <stddef.h>
#include <stdint.h>

/* 0, 1 or 2 columns of a code point that is no control character. */
int width_of(int32_t c);

/* The bytes of the character that s[n] begins with, n at least 1, and of the marks that join it; *columns: what they
 * take. A byte that is not UTF-8 takes one. */
size_t width_next(const char *s, size_t n, int *columns);

/* Where the character that ends at s[n] begins, with the marks that join it; n at least 1. */
size_t width_back(const char *s, size_t n);

#endif
