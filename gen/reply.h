/* reply: prints a model's answer alone, for ask: the answer proper on standard output, its reasoning on standard error
 * or nowhere, calls of tools as their name and arguments on a line. White space before and after the answer goes; it
 * ends with a new line. */
#ifndef REPLY_H
#define REPLY_H

#include <stddef.h>

#include "lib/base/why.h"
#include "parser.h"

/* thoughts: whether reasoning is shown, dim on a terminal. calls: the descriptor that calls go to, or -1. lines: each
 * answer is one line, as detok --lines prints texts. */
void reply_open(int thoughts, int calls, int lines);
void reply_close(void);

/* Begins an answer, which is read by p. */
void reply_begin(const struct parser *p);

/* Prints more of the answer. */
void reply_text(const char *s, size_t n);

/* Ends the answer. */
void reply_end(void);

/* -1 with the reason if some of it could not be written. */
int reply_written(struct why *w);

#endif
