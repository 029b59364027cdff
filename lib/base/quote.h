/* quote: any bytes as text on one line, for people. Well-formed UTF-8 stays as it is; control characters and what is no UTF-8 are spelled as in C. */
#ifndef QUOTE_H
#define QUOTE_H

#include <stddef.h>

enum { QUOTE_ROOM = 20 };

/* Spells the next character of s[n], n > 0, into out[QUOTE_ROOM] and returns the length of that; *used is how many bytes of s it took. A '"' has `mark`
 * before it: '\\', '"' as CSV has it, or 0 for nothing. */
size_t quote_next(const char *s, size_t n, char mark, char *out, unsigned *used);

/* The opposite, for the arguments of options: \n \t \r \" \' and \\ in text become what they stand for; another backslash stays. Writes at most
 * strlen(text) bytes to out, which may be text, and returns how many. */
size_t quote_undo(const char *text, char *out);

#endif
