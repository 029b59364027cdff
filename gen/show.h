/* show: what a model says, on a terminal: its thoughts dim or folded, calls of tools in a colour, and no control
 * characters that could do something to the terminal. */
#ifndef SHOW_H
#define SHOW_H

#include <stddef.h>

#include "lib/base/why.h"

/* What is shown goes to this descriptor. Colours unless $NO_COLOR is set. -1 with a reason. */
int show_open(int fd, struct why *w);
void show_close(void);

/* Thoughts are folded into a line, or shown. */
void show_fold(int fold);

/* An answer begins; thinking: with a thought that the prompt has opened. Whether text[n], laid out for the model, ends
 * in such a thought. */
void show_begin(int thinking);
int show_ends_thinking(const char *text, size_t n);

/* More of it. */
void show_text(const char *s, size_t n);

/* The cursor goes to the beginning of a line, for what others write. */
void show_line(void);

/* It has ended; the cursor is at the beginning of a line. */
void show_end(void);

#endif
