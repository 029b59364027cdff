/* under: runs a command under a condition that a shell cannot make portably, and exits with its status (128 plus the
 * number of the signal if one ended it).
 *
 *	under kill SIGNAL MICROSECONDS COMMAND...       sends it a signal after a while, unless it has ended
 *	under stop MICROSECONDS COMMAND...              stops and continues it every so often
 *	under time FILE COMMAND...                      writes the microseconds it took to FILE
 *	under memory MIB COMMAND...                     status 124 if it ever had more than that resident
 *	under nopipe COMMAND...                         with SIGPIPE ignored
 *	under nonblock FD COMMAND...                    with O_NONBLOCK set on a descriptor
 *	under pty FD COMMAND...                         with a descriptor that is a terminal; of a small output on
 *	                                                descriptor 1 or 2 a copy goes to where it went */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/system.h"

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(125);
}

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void rest(long long microseconds)
{
	struct timespec t = { (time_t)(microseconds / 1000000), (long)(microseconds % 1000000 * 1000) };

	while (nanosleep(&t, &t) && errno == EINTR)
		continue;
}

static int leader = -1, output;

static void terminal(int fd)
{
	int follower;

	leader = posix_openpt(O_RDWR | O_NOCTTY);
	output = dup(fd);
	if (leader < 0 || grantpt(leader) || unlockpt(leader)
		|| (follower = open(ptsname(leader), O_RDWR | O_NOCTTY)) < 0)
		die("pty");
	dup2(follower, fd);
}

/* Reads what was written to the terminal, which holds a few KiB. */
static void show_terminal(void)
{
	char s[4096];
	ssize_t n;

	fcntl(leader, F_SETFL, O_NONBLOCK);
	while ((n = read(leader, s, sizeof s)) > 0)
		if (write(output, s, (size_t)n) != n)
			die("output");
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		execvp(*command, command);
		die(*command);
	}
	return pid;
}

/* Waits at most this long. Returns 1 if it has ended. */
static int ended(pid_t pid, int *status, long long microseconds)
{
	long long end = now() + microseconds;
	pid_t got;

	while (!(got = waitpid(pid, status, WNOHANG)) && now() < end)
		rest(end - now() > 200 ? 100 : 20);
	return got == pid;
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[1] : "";
	long long begin = now();
	int status, over;
	pid_t pid;

	if (!strcmp(how, "kill") && argc > 4) {
		pid = start(argv + 4);
		if (!(over = ended(pid, &status, atoll(argv[3]))))
			kill(pid, atoi(argv[2]));
	} else if (!strcmp(how, "stop") && argc > 3) {
		pid = start(argv + 3);
		while (!(over = ended(pid, &status, atoll(argv[2])))) {
			kill(pid, SIGSTOP);
			rest(1000);
			kill(pid, SIGCONT);
		}
	} else {
		int skip = 3;

		if (!strcmp(how, "nonblock") && argc > 3)
			fcntl(atoi(argv[2]), F_SETFL, fcntl(atoi(argv[2]), F_GETFL) | O_NONBLOCK);
		else if (!strcmp(how, "pty") && argc > 3)
			terminal(atoi(argv[2]));
		else if (!strcmp(how, "nopipe")) {
			signal(SIGPIPE, SIG_IGN);
			skip = 2;
		} else if ((strcmp(how, "time") && strcmp(how, "memory")) || argc < 4) {
			fprintf(stderr, "usage: under kill|stop|time|memory|nopipe|nonblock|pty ... COMMAND\n");
			return 125;
		}
		pid = start(argv + skip);
		over = 0;
	}
	if (!over)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	if (!strcmp(how, "pty") && atoi(argv[2]) != STDIN_FILENO)
		show_terminal();
	if (!strcmp(how, "time")) {
		FILE *f = fopen(argv[2], "w");

		if (!f || fprintf(f, "%lld\n", now() - begin) < 0 || fclose(f))
			die(argv[2]);
	}
	if (!strcmp(how, "memory") && system_peak_memory(RUSAGE_CHILDREN) >> 20 > (size_t)atol(argv[2]))
		return 124;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
