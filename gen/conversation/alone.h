/* alone: prints a model's answer alone, for ask: the answer proper on standard output, its reasoning on standard error
 * or nowhere, calls of tools on lines of their own, the name and the arguments. White space before and after the
 * answer is dropped, and a new line ends it. */
#ifndef ALONE_H
#define ALONE_H

#include <stddef.h>

#include "lib/base/why.h"
#include "parser.h"

/* thoughts: whether reasoning is shown, dim on a terminal. calls: the descriptor to which calls go, or -1. lines: each
 * answer is one line, with new lines spelled as detok --lines does. */
void alone_open(int thoughts, int calls, int lines);
void alone_close(void);

/* Begins an answer; p knows how the model writes it. */
void alone_begin(const struct parser *p);

/* Prints more of the answer. */
void alone_text(const char *s, size_t n);

/* Ends the answer. */
void alone_end(void);

/* The number of answers without text or calls, so far; 0 if --stop or a grammar may have asked for that. */
size_t alone_empty(const struct request *q);

/* 0, or -1 with a reason if some of the answers could not be written. */
int alone_written(struct why *w);

#endif
