/* console: the user's side of a conversation: the lines of standard input, and ^C. On a terminal that can move its
 * cursor they are edited, and answers are shown; otherwise there is a prompt, if at all. There is one. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stddef.h>

#include "lib/base/why.h"
#include "lib/term/edit.h"

#define CONSOLE_PROMPT "> "

/* Whether standard input and output are a terminal whose lines are edited. */
int console_edits(void);

/* first: a turn before those of standard input, or NULL; borrowed. complete: lines are edited; NULL: they are not. -1
 * with a reason. */
int console_open(const char *first, int interactive, edit_completions *complete, struct why *w);
void console_close(void);

/* In the handler of a signal that ends the program: the terminal as it was found. */
void console_restore(void);

/* The next turn: a line that is not blank, without its end, borrowed until the next call. 1; 0 at the end of the
 * input or at the second ^C in a row; -1 with a reason. The model answers from then until the next call. */
int console_turn(const char **text, size_t *n, struct why *w);

/* For the handler of SIGINT of an interactive conversation: 1 if it ends an answer or the input, 0 if it ends the
 * program: the second one while the model answers, or any while the console is not open. */
int console_interrupt(void);

/* 1 if there was a ^C since the answer began. */
int console_cancelled(void);

/* A line for the user on stderr, after "gen: ". */
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
