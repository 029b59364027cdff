/* answer: prints a model's answer alone, for ask: the answer proper on standard output, its reasoning on standard error
 * or nowhere. White space before and after the answer goes; it ends with a new line. */
#ifndef ANSWER_H
#define ANSWER_H

#include <stddef.h>

#include "lib/base/why.h"
#include "sections.h"

/* thoughts: whether reasoning is shown, dim on a terminal. Returns -1 with a reason on failure. */
int answer_open(int thoughts, struct why *w);
void answer_close(void);

/* An answer begins. */
void answer_begin(struct opened opened);

/* Prints more of the answer. */
void answer_text(const char *s, size_t n);

/* Ends the answer. */
void answer_end(void);

/* -1 with the reason if some of it could not be written. */
int answer_written(struct why *w);

#endif
