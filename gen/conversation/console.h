/* console: the user's side of a conversation: lines of standard input, and ^C. On a terminal that can move its cursor,
 * lines are edited and answers shown; otherwise there is at most a prompt. There is only one console. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stddef.h>

#include "lib/base/why.h"
#include "lib/term/edit.h"

#define CONSOLE_PROMPT "> "

/* Whether standard input and output are a terminal on which lines are edited. */
int console_edits(void);

/* turn[n]: a turn before those of standard input, or NULL; borrowed. complete: for the line editor; NULL: lines are not
 * edited. Returns -1 with a reason on failure. */
int console_open(const char *turn, size_t n, int interactive, edit_completions *complete, struct why *w);
void console_close(void);

/* Restores the terminal. For handlers of signals that end the program. */
void console_restore(void);

/* Reads the next turn: a line that is not blank, without its end, valid until the next call. Returns 1; 0 at the end of
 * the input or at the second ^C in a row; -1 with a reason. From here to the next call, the model answers. */
int console_turn(const char **text, size_t *n, struct why *w);

/* For the handler of SIGINT in an interactive conversation. Returns 1 if the ^C ends an answer or the input, or comes
 * after that; 0 if it must end the program: a second one during an answer, or any before the console is open. */
int console_interrupt(void);

/* Whether the user has ended the conversation: a ^C can only make it end sooner. */
int console_ended(void);

/* Whether ^C was pressed since the answer began. */
int console_cancelled(void);

/* Asks the user on a terminal whether to run a call. What was typed before the question is no answer to it. */
enum console_consent { CONSOLE_NO, CONSOLE_YES, CONSOLE_ALL /* and all that follow */ };
enum console_consent console_ask(const char *name, const char *arguments, size_t n);

/* The name of the program, for console_say(); "gen" at first. */
void console_name(const char *program);

/* Prints a line for the user on stderr, after the program's name. */
void console_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
