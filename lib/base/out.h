/* out: buffered text on standard output, for every program that prints. Unlike stdio it loses nothing on a non-blocking
 * descriptor. Errors are sticky; out_flush() reports them. Not thread-safe. */
#ifndef OUT_H
#define OUT_H

#include <stddef.h>

#include "why.h"

/* Append bytes[n], a string without its NUL, a byte. */
void out_bytes(const void *bytes, size_t n);
void out_text(const char *s);
void out_char(char c);

/* Appends text of any origin, such as a model's: on a terminal without control characters (visible.h), elsewhere as it
 * is. A character may be divided between calls; out_shown_end() is for the last, and out_shown_close() also ends the
 * line on a terminal, where a prompt of the shell follows. */
void out_shown(const char *s, size_t n);
void out_shown_end(void);
void out_shown_close(void);

/* Appends s[n] on one line, its characters as quote_next() spells them. */
void out_quoted(const char *s, size_t n, char mark);

/* As printf(); what is longer than OUT_FORMAT - 1 bytes is cut. */
enum { OUT_FORMAT = 1024 };
void out_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes the buffer. -1 with the reason if that or an earlier write failed; unwritten data is dropped. */
int out_flush(struct why *w);

#endif
