/* Modes are changed relative to those found at the start. Signal handlers restore these while the program is
 * stopped. */
#include "tty.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

static const char paste_on[] = "\033[?2004h", paste_off[] = "\033[?2004l";

static int terminal = -1;
static struct termios found;
static volatile sig_atomic_t mode, event;

int tty_moves(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term && *term && strcmp(term, "dumb") != 0;
}

/* Not stdio: this may run in a signal handler. */
static void say(const char *s)
{
	ssize_t ignored = write(terminal, s, strlen(s));

	(void)ignored;
}

static void change(enum tty_mode to, int when)
{
	struct termios t = found;
	int before = mode;

	if (terminal < 0)
		return;
	if (to != TTY_FOUND) {
		t.c_iflag &= ~(tcflag_t)(BRKINT | ICRNL | INLCR | IGNCR | INPCK | ISTRIP | IXON);
		t.c_lflag &= ~(tcflag_t)(ECHO | ICANON | IEXTEN);
		/* otherwise ^C would discard typed text and pending output, even the program's reply to it */
		t.c_lflag |= NOFLSH;
		t.c_cc[VMIN] = 1;
		t.c_cc[VTIME] = 0;
		t.c_cc[VQUIT] = _POSIX_VDISABLE;
	}
	if (to == TTY_KEYS)
		t.c_lflag &= ~(tcflag_t)ISIG;
	mode = to;
	if (before == TTY_KEYS && to != TTY_KEYS)
		say(paste_off);
	while (tcsetattr(terminal, when, &t) && errno == EINTR)
		;
	if (before != TTY_KEYS && to == TTY_KEYS)
		say(paste_on);
}

void tty_set(enum tty_mode to)
{
	if (mode != (sig_atomic_t)to)
		change(to, TCSADRAIN);
}

void tty_restore(void)
{
	if (mode != TTY_FOUND)
		change(TTY_FOUND, TCSANOW);
}

static void on_resize(int sig)
{
	event = TTY_RESIZED;
}

/* Stops the job with the terminal as it was found, and restores the current mode when it continues. */
static void on_stop(int sig)
{
	struct sigaction stop = { .sa_handler = SIG_DFL }, ours;
	enum tty_mode before = (enum tty_mode)mode;
	int error = errno;
	sigset_t set, old;

	tty_restore();
	sigaction(SIGTSTP, &stop, &ours);
	sigemptyset(&set);
	sigaddset(&set, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &set, &old);
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(SIGTSTP, &ours, NULL);
	event = TTY_STOPPED;
	if (before != TTY_FOUND)
		change(before, TCSANOW);
	errno = error;
}

void tty_suspend(void)
{
	kill(0, SIGTSTP);
	event = TTY_NOTHING;
}

enum tty_event tty_event(void)
{
	enum tty_event was = (enum tty_event)event;

	event = TTY_NOTHING;
	return was;
}

static void take(int sig, void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler }, before;

	/* A shell without job control ignores it for us. */
	if (!sigaction(sig, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(sig, &act, NULL);
}

#ifdef SIGWINCH
static void take_resize(void)
{
	take(SIGWINCH, on_resize);
}
#else
static void take_resize(void)
{
	(void)on_resize;
}
#endif

int tty_open(int fd)
{
	if (tcgetattr(fd, &found))
		return -1;
	if (terminal < 0)
		atexit(tty_restore);
	terminal = fd;
	mode = TTY_FOUND;
	take(SIGTSTP, on_stop);
	take_resize();
	return 0;
}
