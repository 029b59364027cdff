/* stages: the child processes of a pipeline: how they start, how they end, and the one line that says what went
 * wrong. The programs of lmpipe write the line that they die with to the descriptor that $LMPIPE_ERROR_FD names, if
 * it is set (lib/base/cli.h). The stages set it to a pipe of their own: one fault often makes several stages fail,
 * and only the line of the stage that began it is for the user. */
#ifndef STAGES_H
#define STAGES_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/why.h"

enum { STAGE_ARGS = 128 };

struct stage {
	const char *name;               /* what messages call it */
	const char *program;            /* what its own messages begin with, or NULL: its name */
	const char *argv[STAGE_ARGS];   /* NULL-terminated; borrowed strings */
	int n;                          /* arguments so far; 0 and no command: not part of the pipeline */
	const char *command;            /* run by the shell in place of argv, or NULL */
	const char *text;               /* in place of a program: written to its output, as by printf(1) */
	int uninterrupted;              /* ignores SIGINT, and SIGUSR1 until it asks for it */
	int quiet;                      /* nothing of it is for stderr but the line that it dies with */
	pid_t pid;                      /* 0: not running */
	int status;                     /* of waitpid(), once it has ended */
	int ended, ours;                /* it has; by a signal that we sent */
};

/* Appends one argument. More than STAGE_ARGS - 1 are an error. */
int stage_arg(struct stage *s, const char *arg, struct why *w);

/* Whether it is part of the pipeline. */
int stage_used(const struct stage *s);

/* A pipe whose ends are closed on exec. */
int stage_pipe(int fd[2], struct why *w);

/* Starts s with `in` and `out` as its standard input and output (the parent's where -1) and closes them here, also
 * on failure. argv[0] is searched in PATH where it has no slash; a command is run by sh -c. */
int stage_start(struct stage *s, int in, int out, struct why *w);

/* Waits for it. 0, or -1 if it failed; the reason is its own line where it has written one. */
int stage_wait(struct stage *s, struct why *w);

/* The exit status of a stage that has ended; 128 and the signal's number if a signal ended it. */
int stage_status(const struct stage *s);

/* Sends it a signal if it runs, and is no command of the user's. */
void stage_signal(const struct stage *s, int signal);

/* Asks all running stages to end. Safe in a signal handler. */
void stages_kill(struct stage *s, int n, int signal);

/* Waits for all n stages. With `failing`, those that still run after a moment are killed, so that none waits for
 * input that will not come. Returns the number of the stage whose failure began it, and its line for the user in
 * *w; -1 where none failed. A stage that dies of SIGPIPE, or of a signal that we sent, has not failed: its reader
 * is gone, or we ended it. first[n_first] are the numbers in the order of the stream. */
int stages_wait(struct stage *s, int n, int failing, const int *first, int n_first, struct why *w);

#endif
