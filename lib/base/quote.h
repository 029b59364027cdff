/* quote: any bytes as text on one line. Well-formed UTF-8 is kept; control characters, those that change the direction
 * of text, and invalid bytes are escaped as in C. */
#ifndef QUOTE_H
#define QUOTE_H

#include <stddef.h>

enum { QUOTE_ROOM = 20 };

/* Writes the next character of s[n], n > 0, to out[QUOTE_ROOM] and returns its length there; *used is its length in s.
 * A '"' is preceded by `mark`: '\\', '"' as in CSV, or 0 for nothing. */
size_t quote_next(const char *s, size_t n, char mark, char *out, unsigned *used);

/* The reverse, for option arguments and prompts: replaces \n \t \r \" \' and \\ in text[n]; other backslashes are
 * kept. Writes at most n bytes to out, which may be text, and returns how many. */
size_t quote_undo(const char *text, size_t n, char *out);

#endif
