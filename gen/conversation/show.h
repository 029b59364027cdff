/* show: prints what a model writes on a terminal: its reasoning dim or folded, calls of tools in a colour with name and
 * arguments, and no control characters that could change the terminal. */
#ifndef SHOW_H
#define SHOW_H

#include <stddef.h>

#include "lib/base/why.h"
#include "parser.h"

/* Prints to this descriptor, in colours unless $NO_COLOR is set. */
void show_open(int fd);
void show_close(void);

/* Whether reasoning is folded into one line. */
void show_fold(int fold);

/* Begins an answer, which is read by p. */
void show_begin(const struct parser *p);

/* Shows more of the answer. */
void show_text(const char *s, size_t n);

/* Moves the cursor to the start of a line, before others write. */
void show_line(void);

/* Ends the answer; leaves the cursor at the start of a line. */
void show_end(void);

/* Shows an empty line before the next turn, if there was an answer. */
void show_gap(void);

#endif
