/* Stages are started with posix_spawn() and reaped as they end. Which failure came first is decided from their order,
 * their status, and their error lines. */
#include "stages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE = 300, LINES = 1 << 16 };  /* milliseconds; bytes of error lines */

extern char **environ;

static int errors[2] = { -1, -1 };      /* a pipe for the stages' error lines */
static char lines[LINES];
static size_t n_lines;
static int uninterrupted;

/* ---- starting ---- */

void stages_block_interrupts(void)
{
	uninterrupted = 1;
	signal(SIGUSR1, SIG_IGN);
}

/* Reads the error lines that have come. */
static void take_lines(void)
{
	ssize_t got;

	while (errors[0] >= 0 && n_lines < LINES - 1
	    && (got = read(errors[0], lines + n_lines, LINES - 1 - n_lines)) > 0)
		n_lines += (size_t)got;
}

/* Makes the pipe of error lines: its reading end never blocks, its writing end is only for the stages. */
static int open_errors(struct why *w)
{
	char number[16];

	if (errors[0] >= 0)
		return 0;
	if (stage_pipe(errors, w))
		return -1;
	if (fcntl(errors[0], F_SETFL, O_NONBLOCK)) {
		why(w, "pipe: %s", strerror(errno));
		close(errors[0]);
		errors[0] = -1;
		return -1;
	}
	if (stage_inherit(errors[1], w))
		return -1;
	snprintf(number, sizeof number, "%d", errors[1]);
	return setenv("LMPIPE_ERROR_FD", number, 1) ? why(w, "out of memory") : 0;
}

/* Gives a new stage the signals that a shell would. Returns 0 or an error number. */
static int set_signals(const struct stage *s, posix_spawnattr_t *how, sigset_t mask)
{
	static const int defaults[] = { SIGTERM, SIGHUP, SIGPIPE, SIGINT };
	short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
	sigset_t set;
	int error;

	sigemptyset(&set);
	if (s->apart) {
		sigaddset(&set, SIGUSR1);
		flags |= POSIX_SPAWN_SETPGROUP;
	}
	for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
		sigaddset(&set, defaults[i]);
	if (uninterrupted && !s->apart)
		sigaddset(&mask, SIGINT);
	if ((error = posix_spawnattr_setsigdefault(how, &set)) || (error = posix_spawnattr_setsigmask(how, &mask)))
		return error;
	return posix_spawnattr_setflags(how, flags);
}

/* The environment of a program apart: without our variables. NULL: out of memory. The caller frees it. */
static char **their_environment(void)
{
	static const char ours[] = "LMPIPE_ERROR_";
	size_t n = 0, kept = 0;
	char **copy;

	while (environ[n])
		n++;
	if ((copy = calloc(n + 1, sizeof *copy)))
		for (size_t i = 0; i < n; i++)
			if (strncmp(environ[i], ours, sizeof ours - 1))
				copy[kept++] = environ[i];
	return copy;
}

/* Returns 0 or an error number. */
static int spawn(struct stage *s, int in, int out)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t all, before;
	char **theirs = NULL;
	int error;

	if ((error = posix_spawn_file_actions_init(&files)))
		return error;
	if ((error = posix_spawnattr_init(&how))) {
		posix_spawn_file_actions_destroy(&files);
		return error;
	}
	if (in >= 0)
		error = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	if (!error && out >= 0)
		error = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	if (!error && s->quiet)
		error = posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	/* no signal may arrive before s->pid is set, because the handler reads it */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	error = error ? error : set_signals(s, &how, before);
	s->ended = s->ours = s->early = 0;
	if (!error && s->apart && !(theirs = their_environment()))
		error = ENOMEM;
	if (!error)
		error = posix_spawnp(&s->pid, s->argv[0], &files, &how, (char *const *)s->argv,
			theirs ? theirs : environ);
	free(theirs);
	s->pid = error ? 0 : s->pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return error;
}

int stage_start(struct stage *s, int in, int out, struct why *w)
{
	int failed = open_errors(w), error;

	take_lines();
	s->lines = n_lines;
	if (!failed && (error = spawn(s, in, out)))
		failed = why(w, "%s: %s: %s", s->name, s->argv[0], strerror(error));
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return failed;
}

/* ---- ending ---- */

/* The signal that a stage died of, or 0. A shell, here or behind ssh, reports its last command's signal as an exit
 * status above 128; 255 is ssh's own. */
static int died_of(const struct stage *s)
{
	if (WIFSIGNALED(s->status))
		return WTERMSIG(s->status);
	return s->shell && WEXITSTATUS(s->status) > 128 && WEXITSTATUS(s->status) < 255
		? WEXITSTATUS(s->status) - 128 : 0;
}

/* How a stage failed, the gravest last. A usage error comes at the start, so whether other stages fail as well is a
 * matter of timing. Only a plain failure can be the effect of another stage's. Status 2 of a shell command may mean
 * anything. */
enum failure { FAILED_NOT, FAILED_PLAINLY, FAILED_BY_SIGNAL, FAILED_BY_USAGE };

static enum failure failure_of(const struct stage *s)
{
	int signal = died_of(s), status = WEXITSTATUS(s->status);

	if (!s->ended)
		return FAILED_NOT;
	if (signal)
		return signal == SIGPIPE || (s->ours && signal == SIGTERM) ? FAILED_NOT : FAILED_BY_SIGNAL;
	return status == 2 && !s->shell ? FAILED_BY_USAGE : status || s->early ? FAILED_PLAINLY : FAILED_NOT;
}

void stages_kill(struct stage *s, int n)
{
	for (int i = 0; i < n; i++)
		if (s[i].pid > 0) {
			s[i].ours = 1;
			if (s[i].apart) {
				kill(-s[i].pid, SIGKILL);
				continue;
			}
			kill(s[i].pid, SIGTERM);
			kill(s[i].pid, SIGCONT);
		}
}

/* The error line[*length] of s; NULL: there is none. */
static char *line_of(const struct stage *s, size_t *length)
{
	size_t n = strlen(s->program);

	take_lines();
	for (char *line = lines + s->lines; WIFEXITED(s->status) && *line; line += *length + (line[*length] != 0)) {
		*length = strcspn(line, "\n");
		if (!strncmp(line, s->program, n) && line[n] == ':')
			return line;
	}
	return NULL;
}

void stage_forget(const struct stage *s)
{
	size_t n;
	char *line = line_of(s, &n);

	/* only the last line can be dropped, so that those after it stay where they are */
	if (!line || line + n + 1 < lines + n_lines)
		return;
	n_lines = (size_t)(line - lines);
	memset(line, 0, n + 1);
}

/* How many bytes of line[length] to leave out: the name of the stage, if what follows begins with an option or an
 * argument. The user gave these to us, and need not know which stage looks at them. */
static size_t name_of_stage(const struct stage *s, const char *line, size_t length)
{
	size_t name = strlen(s->program) + 2, n;

	if (s->shell || length < name)
		return 0;
	if (line[name] == '-')
		return name;
	for (size_t i = 1; i < s->n; i++)
		if ((n = strlen(s->argv[i])) && !strncmp(line + name, s->argv[i], n) && line[name + n] == ':')
			return name;
	return 0;
}

/* Sets the reason to the error line of s or, if it has none, to what ended it. */
static void explain(const struct stage *s, struct why *w)
{
	size_t length, from;
	const char *line = line_of(s, &length);

	if (line) {
		from = name_of_stage(s, line, length);
		why(w, "%.*s", (int)(length - from), line + from);
	} else if (died_of(s))
		why(w, "%s: killed by signal %d", s->name, died_of(s));
	else if (s->early)
		why(w, "%s: ended, with status 0, before the text was complete", s->name);
	else
		why(w, "%s: exit status %d", s->name, WEXITSTATUS(s->status));
}

static void set_ended(struct stage *s, int status)
{
	s->pid = 0;
	s->status = status;
	s->ended = 1;
}

int stage_wait(struct stage *s, struct why *w)
{
	pid_t pid = 0;
	int status = 0;

	while (s->pid > 0 && (pid = waitpid(s->pid, &status, 0)) < 0 && errno == EINTR)
		;
	if (!s->ended)
		set_ended(s, pid > 0 ? status : 0);
	if (pid < 0)
		return why(w, "%s: %s", s->name, strerror(errno));
	if (!failure_of(s))
		return 0;
	explain(s, w);
	return -1;
}

int stage_has_ended(struct stage *s)
{
	int status;

	if (s->pid > 0 && waitpid(s->pid, &status, WNOHANG) > 0)
		set_ended(s, status);
	return s->ended;
}

/* Reaps a child; waits for one unless `how` says otherwise. Returns 1: one has ended, 0: none has yet, -1: there are no
 * children. */
static int reap(struct stage *s, int n, int how)
{
	int status;
	pid_t pid = waitpid(-1, &status, how);

	for (int i = 0; pid > 0 && i < n; i++)
		if (s[i].pid == pid)
			set_ended(&s[i], status);
	return pid > 0 || (pid < 0 && errno == EINTR) ? 1 : pid < 0 ? -1 : 0;
}

/* Reaps those of n stages that end within a moment; no longer than until `last` has, if that is not NULL. */
static void reap_some(struct stage *s, int n, const struct stage *last)
{
	const struct timespec pause = { 0, 1000000 };
	int got = 1;

	for (int i = 0; i < GRACE && got >= 0 && !(last && last->ended); i++) {
		while ((got = reap(s, n, WNOHANG)) > 0)
			;
		if (!got)
			nanosleep(&pause, NULL);
	}
}

void stages_find_early(struct stage *s, int n, int from, int to)
{
	/* The last may have ended because the one before it has, which closes its output a moment before it ends. */
	for (int i = to - 1, ended = 1; i >= from && ended; i--)
		if (s[i].n) {
			reap_some(s, n, &s[i]);
			ended = s[i].ended;
		}
	for (int i = from; i < to; i++)
		if (s[i].ended && WIFEXITED(s[i].status) && !WEXITSTATUS(s[i].status)) {
			s[i].early = 1;
			return;
		}
}

int stages_wait(struct stage *s, int n, int failing, struct why *w)
{
	int first = -1;

	if (failing)
		reap_some(s, n, NULL);
	if (failing)
		stages_kill(s, n);
	while (reap(s, n, 0) > 0)
		;
	/* of the gravest failures, the first in the order of the stream, as failures spread downstream */
	for (int i = 0; i < n; i++)
		if (failure_of(&s[i]) > (first < 0 ? FAILED_NOT : failure_of(&s[first])))
			first = i;
	if (first >= 0)
		explain(&s[first], w);
	return first;
}
