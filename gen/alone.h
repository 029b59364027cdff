/* alone: prints a model's answer alone, for ask: the answer proper on standard output, its reasoning on standard error
 * or nowhere, calls of tools as their name and arguments on a line. White space before and after the answer goes; it
 * ends with a new line. */
#ifndef ALONE_H
#define ALONE_H

#include <stddef.h>

#include "lib/base/why.h"
#include "parser.h"

/* thoughts: whether reasoning is shown, dim on a terminal. calls: the descriptor that calls go to, or -1. lines: each
 * answer is one line, as detok --lines prints texts. */
void alone_open(int thoughts, int calls, int lines);
void alone_close(void);

/* Begins an answer, which is read by p. */
void alone_begin(const struct parser *p);

/* Prints more of the answer. */
void alone_text(const char *s, size_t n);

/* Ends the answer. */
void alone_end(void);

/* -1 with the reason if some of it could not be written. */
int alone_written(struct why *w);

#endif
