/* The child processes of a pipeline. */
#include "stages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { GRACE = 300, LINES = 1 << 16 };  /* milliseconds; bytes of last lines */

static int errors[2] = { -1, -1 };      /* a pipe of the lines that stages die with */
static char lines[LINES];
static size_t n_lines;

int stage_arg(struct stage *s, const char *arg, struct why *w)
{
	if (s->n == STAGE_ARGS - 1)
		return why(w, "%s: too many options", s->name);
	s->argv[s->n++] = arg;
	s->argv[s->n] = NULL;
	return 0;
}

int stage_used(const struct stage *s)
{
	return s->n || s->command || s->text;
}

int stage_pipe(int fd[2], struct why *w)
{
	if (pipe(fd))
		return why(w, "pipe: %s", strerror(errno));
	if (fcntl(fd[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd[1], F_SETFD, FD_CLOEXEC) == 0)
		return 0;
	why(w, "pipe: %s", strerror(errno));
	close(fd[0]);
	close(fd[1]);
	fd[0] = fd[1] = -1;
	return -1;
}

/* The pipe of last lines: its reading end never blocks, its writing end is for the stages alone. */
static int open_errors(struct why *w)
{
	if (errors[0] >= 0)
		return 0;
	if (stage_pipe(errors, w))
		return -1;
	fcntl(errors[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* ---- starting ---- */

static void write_text(const char *s)
{
	size_t n = strlen(s);
	ssize_t done;

	while (n) {
		if ((done = write(STDOUT_FILENO, s, n)) < 0 && errno != EINTR)
			_exit(1);
		if (done > 0) {
			s += done;
			n -= (size_t)done;
		}
	}
	_exit(0);
}

/* In the child: signals as a shell would set them, descriptors in their places. */
static void become_stage(const struct stage *s, int in, int out, const sigset_t *mask)
{
	static const int defaults[] = { SIGTERM, SIGHUP, SIGPIPE };
	char number[16];
	int null;

	for (size_t i = 0; i < sizeof defaults / sizeof *defaults; i++)
		signal(defaults[i], SIG_DFL);
	signal(SIGINT, s->uninterrupted ? SIG_IGN : SIG_DFL);
	if (s->uninterrupted)
		signal(SIGUSR1, SIG_IGN);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	if (s->quiet && (null = open("/dev/null", O_WRONLY)) >= 0)
		dup2(null, STDERR_FILENO);
	fcntl(errors[1], F_SETFD, 0);
	snprintf(number, sizeof number, "%d", errors[1]);
	setenv("LMPIPE_ERROR_FD", number, 1);
}

/* Runs in the child until exec, whose failure it writes into `failed`. */
static _Noreturn void run_stage(const struct stage *s, int failed)
{
	ssize_t n;

	if (s->text && !s->command)
		write_text(s->text);
	if (s->command)
		execlp("sh", "sh", "-c", s->command, (char *)NULL);
	else
		execvp(s->argv[0], (char *const *)s->argv);
	n = write(failed, &errno, sizeof errno);
	_exit(n == sizeof errno ? 127 : 126);
}

static void close_ends(int in, int out)
{
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
}

int stage_start(struct stage *s, int in, int out, struct why *w)
{
	int failed[2] = { -1, -1 }, error = 0;
	sigset_t all, before;
	ssize_t n;

	/* exec closes this pipe; a failing exec writes its reason into it. */
	if (open_errors(w) || stage_pipe(failed, w)) {
		close_ends(in, out);
		return -1;
	}
	/* A signal must not come between fork() and s->pid, which the handler looks at. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	s->ended = s->ours = 0;
	s->pid = fork();
	if (s->pid == 0) {
		become_stage(s, in, out, &before);
		run_stage(s, failed[1]);
	}
	error = s->pid < 0 ? errno : 0;
	s->pid = s->pid < 0 ? 0 : s->pid;
	sigprocmask(SIG_SETMASK, &before, NULL);
	close_ends(in, out);
	close(failed[1]);
	/* A writer of text has no exec to wait for. */
	while (!error && (s->command || !s->text) && (n = read(failed[0], &error, sizeof error)) < 0 && errno == EINTR)
		;
	close(failed[0]);
	if (!error)
		return 0;
	if (s->pid > 0)
		waitpid(s->pid, &s->status, 0);
	s->pid = 0;
	return why(w, "%s: %s: %s", s->name, s->command ? "sh" : s->text ? "fork" : s->argv[0], strerror(error));
}

/* ---- ending ---- */

/* The signal that a stage died of, 0 for none. A shell tells of its last command's by an exit status above 128. */
static int died_of(const struct stage *s)
{
	if (WIFSIGNALED(s->status))
		return WTERMSIG(s->status);
	return s->command && WEXITSTATUS(s->status) > 128 ? WEXITSTATUS(s->status) - 128 : 0;
}

/* Whether it has ended badly: by a signal that is neither SIGPIPE nor ours, or with a status other than 0. */
static int stage_failed(const struct stage *s)
{
	int signal = died_of(s);

	if (!s->ended)
		return 0;
	return signal ? signal != SIGPIPE && !(s->ours && signal == SIGTERM) : WEXITSTATUS(s->status) != 0;
}

int stage_status(const struct stage *s)
{
	return WIFSIGNALED(s->status) ? 128 + WTERMSIG(s->status) : WEXITSTATUS(s->status);
}

void stage_signal(const struct stage *s, int signal)
{
	if (s->pid > 0 && !s->command)
		kill(s->pid, signal);
}

void stages_kill(struct stage *s, int n, int signal)
{
	for (int i = 0; i < n; i++)
		if (s[i].pid > 0) {
			s[i].ours = 1;
			kill(s[i].pid, signal);
		}
}

/* Reads what stages have written into the pipe of last lines. */
static void read_lines(void)
{
	ssize_t n;

	while (errors[0] >= 0 && n_lines < LINES - 1 && (n = read(errors[0], lines + n_lines, LINES - 1 - n_lines)) > 0)
		n_lines += (size_t)n;
	lines[n_lines] = 0;
}

/* The line that s died with; where there is none, what ended it. */
static void explain(const struct stage *s, struct why *w)
{
	const char *program = s->program ? s->program : s->name, *line, *end;
	size_t n = strlen(program);

	read_lines();
	for (line = lines; WIFEXITED(s->status) && *line; line = end + 1) {
		if (!(end = strchr(line, '\n')))
			break;
		if (!strncmp(line, program, n) && !strncmp(line + n, ": ", 2)) {
			why(w, "%.*s", (int)(end - line), line);
			return;
		}
	}
	if (died_of(s))
		why(w, "%s: killed by signal %d", s->name, died_of(s));
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
	set_ended(s, pid > 0 ? status : 0);
	if (!stage_failed(s))
		return 0;
	explain(s, w);
	return -1;
}

/* Waits for any child, or only looks. 1: one has ended, 0: none has yet, -1: there is none. */
static int reap(struct stage *s, int n, int how)
{
	int status;
	pid_t pid = waitpid(-1, &status, how);

	for (int i = 0; pid > 0 && i < n; i++)
		if (s[i].pid == pid)
			set_ended(&s[i], status);
	return pid > 0 || (pid < 0 && errno == EINTR) ? 1 : pid < 0 ? -1 : 0;
}

int stages_wait(struct stage *s, int n, int failing, const int *first, int n_first, struct why *w)
{
	const struct timespec pause = { 0, 1000000 };
	int got = 1;

	for (int i = 0; failing && i < GRACE && got >= 0; i++) {
		while ((got = reap(s, n, WNOHANG)) > 0)
			;
		if (!got)
			nanosleep(&pause, NULL);
	}
	if (failing)
		stages_kill(s, n, SIGTERM);
	while (reap(s, n, 0) > 0)
		;
	/* A fault goes down the stream: the first in its order began it; but one that was killed did not follow
	 * another. */
	for (int killed = 1; killed >= 0; killed--)
		for (int i = 0; i < n_first; i++)
			if (stage_failed(&s[first[i]]) && (!killed || died_of(&s[first[i]]))) {
				explain(&s[first[i]], w);
				return first[i];
			}
	return -1;
}
