/* stages: the child processes of a pipeline: starting them, ending them, and finding the one line that says what went
 * wrong. The programs of lmpipe write their error line to the descriptor in $LMPIPE_ERROR_FD, if it is set
 * (lib/base/cli.h). Here that is a pipe of ours, because one fault often makes several stages fail, and only the line
 * of the stage that caused it is shown to the user. */
#ifndef STAGES_H
#define STAGES_H

#include <stddef.h>
#include <sys/types.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

struct stage {                  /* starts as zeros */
	const char *name;       /* as messages call it */
	const char *program;    /* what its own messages begin with */
	const char **argv;      /* [n] and a NULL; the strings are borrowed. n 0: not in use */
	size_t n, room;
	int shell;              /* argv runs a user's shell command */
	int apart;              /* a program of the user's beside the stream: it has a process group of its own, signals
				 * as usual, and nothing of ours in its environment */
	int quiet;              /* of its stderr, only the error line is shown */
	pid_t pid;              /* 0: not running */
	int status;             /* from waitpid(), once it has ended */
	int ended, ours;        /* it has ended; by a signal that we sent */
	int early;              /* with status 0, but before the work was done: a failure */
	size_t lines;           /* private: of the error lines, which end before it was started */
};

/* stage_arg() appends one argument; -1: out of memory. stage_cut() drops the arguments from number n on. */
int stage_arg(struct stage *s, const char *arg, struct why *w);
void stage_cut(struct stage *s, size_t n);

/* Appends an option (NULL: none) and the path by which the stage opens the descriptor fd, once it has inherited it. The
 * path is written to `path`, which must outlive the argument. -1: out of memory. */
enum { STAGE_PATH = 24 };
int stage_arg_path(struct stage *s, const char *option, int fd, char path[STAGE_PATH], struct why *w);

/* Appends its command as shell words, quoted if necessary. -1: out of memory. */
int stage_words(const struct stage *s, struct bytes *to);

/* Options are words of their own, followed by the value if there is one. stage_option(): the value of an option, or
 * NULL. The others set an option to a value (NULL: it has none), appending it if it is missing; and remove it. */
const char *stage_option(const struct stage *s, const char *option);
int stage_set_option(struct stage *s, const char *option, const char *value, struct why *w);
void stage_drop_option(struct stage *s, const char *option, int has_value);

/* Makes a pipe whose ends are closed on exec. */
int stage_pipe(int fd[2], struct why *w);

/* stage_inherit(): stages inherit the descriptor. stage_dup(): a copy of it, for stage_start(); -1 with a reason. */
int stage_inherit(int fd, struct why *w);
int stage_dup(int fd, struct why *w);

/* Makes an empty file without a name, which stages inherit. Returns its descriptor; -1 with a reason. stage_rewind():
 * the next read is from its start. */
int stage_file(struct why *w);
int stage_rewind(int fd, struct why *w);

/* From now on, stages start with SIGINT blocked, and with SIGUSR1 ignored until they handle it. */
void stages_block_interrupts(void);

/* Starts s with `in` and `out` as its standard input and output (-1: the parent's), and closes them here, even on
 * failure. argv[0] is searched for in PATH if it has no slash. */
int stage_start(struct stage *s, int in, int out, struct why *w);

/* Waits for s. Returns 0, or -1 if it failed; the reason is its error line, if it wrote one, without the name of the
 * stage if that is about an option or an argument. */
int stage_wait(struct stage *s, struct why *w);

/* Drops the error line of s after stage_wait() has failed. Needed for stages that are run often and may fail, because
 * the room for these lines is limited. */
void stage_forget(const struct stage *s);

/* Whether s has ended, without waiting. */
int stage_has_ended(struct stage *s);

/* Tells all running stages to end, even stopped ones; kills those apart. Safe in a signal handler. */
void stages_kill(struct stage *s, int n);

/* The stream has ended before the work was done. Marks the first of the stages s[from] to s[to - 1] that has ended with
 * status 0, as the one to blame; waits a moment for the last of them, whose output has ended, and for those before it
 * that may be the cause. */
void stages_find_early(struct stage *s, int n, int from, int to);

/* Waits for all n stages, which are in the order of the stream. With `failing`, kills those that still run after a
 * moment, so that none waits for input that will not come. Returns the number of the stage to blame, with its line
 * for the user in *w; -1 if none failed. That is the first with a usage error, or else the first that died of a signal,
 * or else the first that failed. A stage that dies of SIGPIPE, or of a signal that we sent, has not failed: its reader
 * is gone, or we ended it. */
int stages_wait(struct stage *s, int n, int failing, struct why *w);

#endif
