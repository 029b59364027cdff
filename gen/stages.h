/* stages: the child processes of a pipeline, their pipes, and how they ended. */
#ifndef STAGES_H
#define STAGES_H

#include <sys/types.h>

#include "lib/base/why.h"

enum { STAGE_ARGS = 96, STAGES_MAX = 8 };

struct stage {
	const char *name;               /* "fwd": what messages call it */
	const char *argv[STAGE_ARGS];   /* NULL-terminated; borrowed strings */
	int n;                          /* arguments so far */
	const char *command;            /* run by the shell in place of argv, or NULL */
	int deaf;                       /* SIGINT is not for it, and SIGUSR1 only once it says so */
	pid_t pid;                      /* 0: not running */
	int status;                     /* of waitpid(), once it has ended */
};

/* Appends one argument. More than STAGE_ARGS - 1 are an error. */
int stage_arg(struct stage *s, const char *arg, struct why *w);

/* A pipe whose ends no child inherits by accident. */
int stage_pipe(int fd[2], struct why *w);

/* Starts s with `in` and `out` as its standard input and output (the parent's where -1) and closes them here, also on failure.
 * argv[0] is searched in PATH where it has no slash; a command is run by sh -c. */
int stage_start(struct stage *s, int in, int out, struct why *w);

/* A child that writes text[0..n) into `out` and ends. */
int stage_feed(struct stage *s, const char *text, size_t n, int out, struct why *w);

/* Waits for all stages still running, in the order in which they end. Returns the index of the first that failed, -1 where none did.
 * A stage that died of SIGPIPE has not failed: its reader had enough; nor one that died of the signal `ours` (0: none) that we sent. */
int stages_wait(struct stage *s, int n, int ours);

/* Waits for this one alone, if it runs. 1 if it failed. */
int stage_wait(struct stage *s);

int stage_was_killed(const struct stage *s, int signal);

/* Sends it a signal if it runs, and is no command of the user's. */
void stage_signal(const struct stage *s, int signal);

/* Asks all running stages to end. Safe in a signal handler. */
void stages_kill(const struct stage *s, int n, int signal);

#endif
