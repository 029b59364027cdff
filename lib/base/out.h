/* out: standard output as text, for every program that prints. Like stdio, it gathers what is printed and writes it in large pieces; unlike stdio, it
 * loses nothing on a non-blocking descriptor. A failure sticks and is reported by out_flush(). One thread prints at a time. */
#ifndef OUT_H
#define OUT_H

#include <stddef.h>

#include "why.h"

void out_bytes(const void *bytes, size_t n);
void out_text(const char *s);
void out_char(char c);

/* As printf(); at most OUT_FORMAT bytes. */
enum { OUT_FORMAT = 1024 };
void out_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes what was gathered. -1 and the reason if that or an earlier write failed; what could not be written is dropped. */
int out_flush(struct why *w);

#endif
