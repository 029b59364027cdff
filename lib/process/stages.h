/* stages: the child processes of a pipeline: how they start, how they end, and the one line that says what went
 * wrong. The programs of lmpipe write the line that they die with to the descriptor that $LMPIPE_ERROR_FD names, if
 * it is set (lib/base/cli.h). The stages set it to a pipe of their own: one fault often makes several stages fail,
 * and only the line of the stage that began it is for the user. */
#ifndef STAGES_H
#define STAGES_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

struct stage {                  /* starts as zeroes */
	const char *name;       /* what messages call it */
	const char *program;    /* what its own messages begin with */
	const char **argv;      /* [n] and a NULL; the strings are borrowed. n 0: not used */
	size_t n, room;
	int shell;              /* argv runs a command of the user's */
	int quiet;              /* nothing of it is for stderr but the line that it dies with */
	pid_t pid;              /* 0: not running */
	int status;             /* of waitpid(), once it has ended */
	int ended, ours;        /* it has; by a signal that we sent */
};

/* Appends one argument; -1: out of memory. stage_cut() drops those from number n on. */
int stage_arg(struct stage *s, const char *arg, struct why *w);
void stage_cut(struct stage *s, size_t n);

/* Appends its command as a shell reads it, words quoted where they need it; -1: out of memory. */
int stage_words(const struct stage *s, struct bytes *to);

/* The value of an option, in a word of its own, or NULL; the same option with another value (NULL: it has none), at the
 * end if it is not there; without the option. */
const char *stage_option(const struct stage *s, const char *option);
int stage_set_option(struct stage *s, const char *option, const char *value, struct why *w);
void stage_drop_option(struct stage *s, const char *option, int has_value);

/* A pipe whose ends are closed on exec. */
int stage_pipe(int fd[2], struct why *w);

/* A descriptor of an empty file without a name, which stages inherit; -1 with a reason. */
int stage_file(struct why *w);

/* From now on stages start with SIGINT blocked, and SIGUSR1 ignored until they ask for it. */
void stages_block_interrupts(void);

/* Starts s with `in` and `out` as its standard input and output (the parent's where -1) and closes them here, also
 * on failure. argv[0] is searched in PATH where it has no slash. */
int stage_start(struct stage *s, int in, int out, struct why *w);

/* Waits for it. 0, or -1 if it failed; the reason is its own line where it has written one. */
int stage_wait(struct stage *s, struct why *w);

/* Asks all running stages to end, also those that are stopped. Safe in a signal handler. */
void stages_kill(struct stage *s, int n);

/* Waits for all n stages, which are in the order of the stream. With `failing`, those that still run after a moment
 * are killed, so that none waits for input that will not come. Returns the number of the stage whose failure began
 * it, and its line for the user in *w; -1 where none failed. A stage that dies of SIGPIPE, or of a signal that we
 * sent, has not failed: its reader is gone, or we ended it. */
int stages_wait(struct stage *s, int n, int failing, struct why *w);

#endif
