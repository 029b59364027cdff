/* The child processes of a pipeline. */
#include "stages.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int stage_arg(struct stage *s, const char *arg, struct why *w)
{
	if (s->n == STAGE_ARGS - 1)
		return why(w, "%s: too many options", s->name);
	s->argv[s->n++] = arg;
	s->argv[s->n] = NULL;
	return 0;
}

int stage_pipe(int fd[2], struct why *w)
{
	if (pipe(fd))
		return why(w, "pipe: %s", strerror(errno));
	fcntl(fd[0], F_SETFD, FD_CLOEXEC);
	fcntl(fd[1], F_SETFD, FD_CLOEXEC);
	return 0;
}

/* In the child: signals as a shell would set them, in and out in their places. */
static void become_stage(const struct stage *s, int in, int out)
{
	signal(SIGINT, s->deaf ? SIG_IGN : SIG_DFL);
	if (s->deaf)
		signal(SIGUSR1, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	if (in >= 0)
		dup2(in, STDIN_FILENO);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
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
	int failed[2], error = 0;
	ssize_t n;

	/* exec closes this pipe; a failing exec writes its reason into it. */
	if (stage_pipe(failed, w)) {
		close_ends(in, out);
		return -1;
	}
	s->pid = fork();
	if (s->pid == 0) {
		become_stage(s, in, out);
		if (s->command)
			execlp("sh", "sh", "-c", s->command, (char *)NULL);
		else
			execvp(s->argv[0], (char *const *)s->argv);
		error = errno;
		n = write(failed[1], &error, sizeof error);
		_exit(127);
	}
	if (s->pid < 0) {
		error = errno;
		s->pid = 0;
	}
	close_ends(in, out);
	close(failed[1]);
	while ((n = read(failed[0], &error, sizeof error)) < 0 && errno == EINTR)
		;
	close(failed[0]);
	if (!error)
		return 0;
	if (s->pid > 0)
		waitpid(s->pid, &s->status, 0);
	s->pid = 0;
	return why(w, "%s: %s: %s", s->name, s->argv[0], strerror(error));
}

int stage_feed(struct stage *s, const char *text, size_t n, int out, struct why *w)
{
	s->pid = fork();
	if (s->pid == 0) {
		become_stage(s, -1, out);
		while (n) {
			ssize_t done = write(STDOUT_FILENO, text, n);

			if (done < 0 && errno != EINTR)
				_exit(1);
			if (done > 0) {
				text += done;
				n -= (size_t)done;
			}
		}
		_exit(0);
	}
	close(out);
	if (s->pid < 0) {
		s->pid = 0;
		return why(w, "fork: %s", strerror(errno));
	}
	return 0;
}

/* The signal that a stage died of, 0 for none. A shell tells of its last command's by an exit status above 128. */
static int died_of(const struct stage *s)
{
	if (WIFSIGNALED(s->status))
		return WTERMSIG(s->status);
	return s->command && WEXITSTATUS(s->status) > 128 ? WEXITSTATUS(s->status) - 128 : 0;
}

static int stage_failed(const struct stage *s, int ours)
{
	int signal = died_of(s);

	return signal ? signal != SIGPIPE && signal != ours : WEXITSTATUS(s->status) != 0;
}

int stages_wait(struct stage *s, int n, int ours)
{
	int first = -1, status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, 0)) > 0 || errno == EINTR)
		for (int i = 0; i < n; i++)
			if (pid > 0 && s[i].pid == pid) {
				s[i].pid = 0;
				s[i].status = status;
				if (first < 0 && stage_failed(&s[i], ours))
					first = i;
			}
	return first;
}

int stage_wait(struct stage *s)
{
	pid_t pid = 0;

	while (s->pid > 0 && (pid = waitpid(s->pid, &s->status, 0)) < 0 && errno == EINTR)
		;
	s->pid = 0;
	return pid > 0 && stage_failed(s, 0);
}

int stage_was_killed(const struct stage *s, int signal)
{
	return died_of(s) == signal;
}

void stage_signal(const struct stage *s, int signal)
{
	if (s->pid > 0 && !s->command)
		kill(s->pid, signal);
}

void stages_kill(const struct stage *s, int n, int signal)
{
	for (int i = 0; i < n; i++)
		if (s[i].pid > 0)
			kill(s[i].pid, signal);
}
