/* console: the user's side of a conversation: the lines of standard input, the prompt where that is a terminal, and
 * ^C. There is one. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stddef.h>

#include "lib/base/why.h"

#define CONSOLE_PROMPT "> "

/* first: a turn before those of standard input, or NULL; borrowed. */
void console_open(const char *first, int interactive);
void console_close(void);

/* The next turn: a line that is not blank, without its end, borrowed until the next call. 1; 0 at the end of the
 * input or at the second ^C in a row; -1 with a reason. The model answers from then until the next call. */
int console_turn(const char **text, size_t *n, struct why *w);

/* For the handler of SIGINT of an interactive conversation: 1 if it ends an answer or the input, 0 if it is the second
 * one while the model answers. */
int console_interrupt(void);

/* 1 if there was a ^C since the answer began. */
int console_cancelled(void);

#endif
