/* terminal: runs a command on a terminal of its own (a pseudo-terminal) and shows what is on its screen. Steps come
 * from standard input, one a line; text has the escapes \r \n \t \e \\ and \xHH.
 *
 *	terminal COLUMNSxROWS COMMAND... <steps
 *	type TEXT               sends it
 *	wait TEXT               until it is on the screen; cursor TEXT: until it is left of the cursor
 *	show                    prints the screen, without the empty rows at its end; dim text in (( )), coloured in
 *	                        [[ ]], the cursor as a bar
 *	resize COLUMNSxROWS     gives the terminal another size; what is on the screen stays where it is
 *	settle                  until nothing happens any more: show and cursor begin with it
 *	run COMMAND             runs the shell's COMMAND beside it
 *	interrupt               types ^C again and again until the command has ended
 *	signal NUMBER           sends a signal to the command; SIGCONT to all of its job
 *	random SEED N           sends N random keys, and reads what comes
 *	modes                   says whether the modes of the terminal are as at the beginning
 *	stopped                 waits until the command has stopped
 *	end                     waits for the end of the command and prints its status
 *
 * The screen is a small model of a VT100 and knows what lmpipe sends; another sequence is a mistake, which is shown. A
 * wait of more than ten minutes, or the end of the command in it, ends the program with status 1.
 *
 * Nothing happens any more when every thread of the command's session sleeps and none has run between two looks at them
 * without any output in between. Linux tells that in /proc; elsewhere it is taken to be so when nothing has come for
 * QUIET milliseconds. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/utf8.h"
#include "lib/term/width.h"
#include "mkrandom.h"

enum { COLUMNS = 200, ROWS = 100, CELL = 24, PATIENCE = 600, QUIET = 200 };
enum { ESCAPED = 100 };         /* milliseconds: more than an editor waits for the rest of a key that begins with ESC */

struct cell {
	char text[CELL];
	unsigned char n, width; /* width 0: the right half of a wide character */
	unsigned char look;     /* 0, 'd' dim, 'c' coloured */
};

static struct {
	struct cell cell[ROWS][COLUMNS];
	int columns, rows, x, y, wrap;  /* wrap: the next character goes to the next row */
	char look;
	char sequence[64];
	size_t n;
	enum { PLAIN, ESCAPE, CSI } state;
} screen;

static int leader = -1, follower = -1;
static int escaped;             /* what was typed last may be the start of a key */
static pid_t child, shell;
static int news[2];
static struct termios found;
static int status, over;

static _Noreturn void die(const char *what)
{
	printf("terminal: %s: %s\n", what, strerror(errno));
	fflush(stdout);
	if (child > 0 && !over)
		kill(child, SIGKILL);
	exit(1);
}

/* ---- the screen ---- */

static void blank(int y, int from, int to)
{
	for (int x = from; x < to; x++)
		screen.cell[y][x] = (struct cell){ .text = " ", .n = 1, .width = 1 };
}

static void line_feed(void)
{
	screen.wrap = 0;
	if (++screen.y < screen.rows)
		return;
	screen.y = screen.rows - 1;
	memmove(screen.cell[0], screen.cell[1], sizeof screen.cell[0] * (ROWS - 1));
	blank(screen.rows - 1, 0, COLUMNS);
}

static void put(const char *s, size_t n, int width)
{
	struct cell *c;

	if (!width) {
		int x = screen.wrap ? screen.x : screen.x - 1;

		while (x > 0 && !screen.cell[screen.y][x].width)
			x--;
		c = &screen.cell[screen.y][x < 0 ? 0 : x];
		if (c->n + n <= CELL) {
			memcpy(c->text + c->n, s, n);
			c->n = (unsigned char)(c->n + n);
		}
		return;
	}
	if (screen.wrap || screen.x + width > screen.columns) {
		screen.x = 0;
		line_feed();
	}
	c = &screen.cell[screen.y][screen.x];
	*c = (struct cell){ .n = (unsigned char)n, .width = (unsigned char)width, .look = (unsigned char)screen.look };
	memcpy(c->text, s, n);
	if (width == 2 && screen.x + 1 < screen.columns)
		c[1] = (struct cell){ .look = c->look };
	screen.x += width;
	if (screen.x >= screen.columns) {
		screen.x = screen.columns - 1;
		screen.wrap = 1;
	}
}

static void mistake(const char *what)
{
	printf("terminal: unknown sequence: %s%s\n", what, screen.sequence + 1);
}

static int least(int a, int b)
{
	return a < b ? a : b;
}

static void control_sequence(void)
{
	const char *s = screen.sequence + 2;
	char last = screen.sequence[screen.n - 1];
	int n = atoi(s), some = n ? n : 1;

	if (*s == '?')
		return;         /* modes, which are the command's business */
	switch (last) {
	case 'A': screen.y = screen.y > some ? screen.y - some : 0; break;
	case 'B': screen.y = least(screen.y + some, screen.rows - 1); break;
	case 'C': screen.x = least(screen.x + some, screen.columns - 1); break;
	case 'D': screen.x = screen.x > some ? screen.x - some : 0; break;
	case 'H': screen.x = screen.y = 0; break;
	case 'K': blank(screen.y, screen.x, COLUMNS); break;
	case 'J':
		blank(screen.y, n == 2 ? 0 : screen.x, COLUMNS);
		for (int y = n == 2 ? 0 : screen.y + 1; y < screen.rows; y++)
			blank(y, 0, COLUMNS);
		break;
	case 'm': screen.look = n == 2 ? 'd' : n ? 'c' : 0; return;
	default: mistake("ESC");
	}
	screen.wrap = 0;
}

static void escape(char c)
{
	if (screen.n < sizeof screen.sequence - 1)
		screen.sequence[screen.n++] = c;
	screen.sequence[screen.n] = 0;
	if (screen.state == ESCAPE && c == '[')
		screen.state = CSI;
	else if (screen.state == ESCAPE || (unsigned char)c >= 0x40) {
		if (screen.state == CSI)
			control_sequence();
		else
			mistake("ESC");
		screen.state = PLAIN;
	}
}

/* Handles the command's output. A truncated character waits for its rest. */
static void show_bytes(const char *s, size_t n)
{
	static char all[4096 + 4];
	static size_t held;
	unsigned used;
	size_t at;

	memcpy(all + held, s, n);
	n += held;
	for (at = 0; at < n; at += used) {
		int32_t c = utf8_next(all + at, n - at, &used);

		if (c < 0 && n - at < 4 && (unsigned char)all[at] >= 0xc2)
			break;
		if (screen.state != PLAIN)
			escape(all[at]);
		else if (c == 27) {
			screen.state = ESCAPE;
			screen.n = 0;
			screen.sequence[screen.n++] = 27;
		} else if (c == '\r')
			screen.x = screen.wrap = 0;
		else if (c == '\n')
			line_feed();
		else if (c == '\b')
			screen.x -= screen.x > 0;
		else if (c == '\t')
			screen.x = least((screen.x / 8 + 1) * 8, screen.columns - 1);
		else if (c != 7)
			put(all + at, used, c < 0 ? 1 : c < ' ' ? 1 : width_of(c));
	}
	held = n - at;
	memmove(all, all + at, held);
}

static void print_look(int *look, int to)
{
	if (*look != to && *look)
		fputs(*look == 'd' ? "))" : "]]", stdout);
	if (*look != to && to)
		fputs(to == 'd' ? "((" : "[[", stdout);
	*look = to;
}

static void print_screen(void)
{
	int last = screen.rows - 1;

	for (int y = last; y > screen.y; y--, last--) {
		int x = 0;

		while (x < screen.columns && screen.cell[y][x].n == 1 && *screen.cell[y][x].text == ' ')
			x++;
		if (x < screen.columns)
			break;
	}
	for (int y = 0; y <= last; y++) {
		int end = screen.columns, look = 0;

		while (end > 0 && screen.cell[y][end - 1].n == 1 && *screen.cell[y][end - 1].text == ' ')
			end--;
		if (y == screen.y && end < screen.x + 1)
			end = screen.x;
		putchar('|');
		for (int x = 0; x < end; x++) {
			print_look(&look, screen.cell[y][x].look);
			if (y == screen.y && x == screen.x)
				putchar('_');
			fwrite(screen.cell[y][x].text, 1, screen.cell[y][x].n, stdout);
		}
		print_look(&look, 0);
		puts(y == screen.y && screen.x >= end ? "_" : "");
	}
	printf("+%dx%d\n", screen.columns, screen.rows);
	fflush(stdout);
}

/* Returns all text, a line per row; if asked to, up to the cursor. */
static const char *screen_text(int to_cursor)
{
	static char text[ROWS * COLUMNS * CELL];
	size_t n = 0;

	for (int y = 0; y < (to_cursor ? screen.y + 1 : screen.rows); y++) {
		for (int x = 0; x < (to_cursor && y == screen.y ? screen.x : screen.columns); x++) {
			memcpy(text + n, screen.cell[y][x].text, screen.cell[y][x].n);
			n += screen.cell[y][x].n;
		}
		text[n++] = '\n';
	}
	text[n] = 0;
	return text;
}

/* ---- the command ---- */

static void set_size(const char *size)
{
	struct winsize w = { 0 };
	int columns, rows, old = screen.rows;

	if (sscanf(size, "%dx%d", &columns, &rows) != 2 || columns < 1 || rows < 1 || columns > COLUMNS || rows > ROWS)
		die("a size is COLUMNSxROWS");
	w.ws_col = (unsigned short)columns;
	w.ws_row = (unsigned short)rows;
	/* what is above the top of a smaller screen is lost */
	while (screen.y >= rows) {
		memmove(screen.cell[0], screen.cell[1], sizeof screen.cell[0] * (ROWS - 1));
		screen.y--;
	}
	screen.columns = columns;
	screen.rows = rows;
	for (int y = least(old, rows); y < ROWS; y++)
		blank(y, 0, COLUMNS);
	for (int y = 0; y < rows; y++)
		blank(y, columns, COLUMNS);
	screen.x = least(screen.x, columns - 1);
	screen.wrap = 0;
	if (ioctl(leader, TIOCSWINSZ, &w))
		die("TIOCSWINSZ");
}

/* A job can be stopped only if another process of its session waits for it, as a shell does. This process does so, and
 * reports the job's process id and whenever the job stops or ends. */
static _Noreturn void be_shell(char **command)
{
	int how = 0;

	close(news[0]);
	setsid();
	signal(SIGTTOU, SIG_IGN);
	if (ioctl(follower, TIOCSCTTY, 0) || (child = fork()) < 0)
		_exit(126);
	setpgid(child, child);
	if (!child) {
		tcsetpgrp(follower, getpid());
		signal(SIGTTOU, SIG_DFL);
		for (int fd = 0; fd < 3; fd++)
			dup2(follower, fd);
		close(news[1]);
		execvp(*command, command);
		_exit(127);
	}
	tcsetpgrp(follower, child);
	if (write(news[1], &child, sizeof child) < 0)
		_exit(126);
	while (waitpid(child, &how, WUNTRACED) == child && write(news[1], &how, sizeof how) > 0 && WIFSTOPPED(how))
		;
	_exit(0);
}

static void start(char **command)
{
	const char *name;

	if ((leader = posix_openpt(O_RDWR | O_NOCTTY)) < 0 || grantpt(leader) || unlockpt(leader)
	    || !(name = ptsname(leader)) || (follower = open(name, O_RDWR | O_NOCTTY)) < 0)
		die("a pseudo-terminal");
	fcntl(leader, F_SETFD, FD_CLOEXEC);
	if (tcgetattr(follower, &found))
		die("tcgetattr");
	/* also open here, so that its contents are not lost when the command's descriptors close */
	fcntl(follower, F_SETFD, FD_CLOEXEC);
	if (pipe(news) || (shell = fork()) < 0)
		die("fork");
	if (!shell)
		be_shell(command);
	close(news[1]);
	if (read(news[0], &child, sizeof child) != sizeof child)
		die("no command");
	fcntl(news[0], F_SETFL, O_NONBLOCK);
}

/* Reads what arrives within this many milliseconds. Returns whether anything did. */
static int pump(int milliseconds)
{
	struct pollfd ready = { .fd = leader, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	if (poll(&ready, 1, milliseconds) <= 0 || (n = read(leader, bytes, sizeof bytes)) <= 0)
		return 0;
	show_bytes(bytes, (size_t)n);
	return 1;
}

/* Checks for a change of the command's state. Returns 1 if it has stopped or ended. */
static int has_news(void)
{
	if (read(news[0], &status, sizeof status) != sizeof status)
		return 0;
	over = !WIFSTOPPED(status);
	return 1;
}

static int ended(void)
{
	while (!over && has_news())
		;
	return over;
}

static void wait_for(const char *text, int at_cursor)
{
	time_t late = time(NULL) + PATIENCE;
	size_t n = strlen(text), m;

	for (;;) {
		const char *s = screen_text(at_cursor);

		m = strlen(s) - at_cursor;
		if (at_cursor ? m >= n && !memcmp(s + m - n, text, n) : strstr(s, text) != NULL)
			return;
		if (!pump(100) && (ended() || time(NULL) > late)) {
			printf("terminal: no \"%s\" comes%s\n", text, over ? ": the command has ended" : "");
			if (over)
				printf("wait status %d\n", status);
			print_screen();
			errno = ETIMEDOUT;
			die("wait");
		}
	}
}

static void type(const char *s, size_t n)
{
	escaped = n && (s[n - 1] == 27 || (n > 1 && s[n - 2] == 27));
	while (n) {
		ssize_t put_n = write(leader, s, n < 512 ? n : 512);

		if (put_n < 0 && errno != EINTR)
			die("write");
		s += put_n > 0 ? put_n : 0;
		n -= put_n > 0 ? (size_t)put_n : 0;
		while (pump(0))
			;
	}
}

/* ---- when nothing happens any more ---- */

/* A file of /proc as text. Returns 0 if it is gone. */
static int read_proc(const char *path, char text[4096])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, 4095);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

/* Adds up how often a thread has run. Returns whether it runs now, or will as soon as it can. */
static int thread_runs(const char *path, unsigned long long *runs)
{
	char text[4096], state = 'S';
	const char *at;

	if (!read_proc(path, text))
		return 1;
	if ((at = strstr(text, "\nState:")))
		sscanf(at, "\nState: %c", &state);
	for (at = text; (at = strstr(at, "ctxt_switches:")); at++)
		*runs += 1 + strtoull(at + 14, NULL, 10);
	return !strchr("STtZX", state);
}

static int process_runs(const char *pid, unsigned long long *runs)
{
	struct dirent *task;
	char path[300];
	int running = 0;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%s/task", pid);
	if (!(tasks = opendir(path)))
		return 1;
	while (!running && (task = readdir(tasks))) {
		snprintf(path, sizeof path, "/proc/%s/task/%s/status", pid, task->d_name);
		running = *task->d_name != '.' && thread_runs(path, runs);
	}
	closedir(tasks);
	return running;
}

/* Whether the process belongs to the command's session. */
static int is_ours(const char *pid)
{
	char path[300], text[4096];
	const char *name_end;
	int session;

	snprintf(path, sizeof path, "/proc/%s/stat", pid);
	return *pid >= '0' && *pid <= '9' && read_proc(path, text) && (name_end = strrchr(text, ')'))
		&& sscanf(name_end, ") %*c %*d %*d %d", &session) == 1 && session == shell;
}

/* Adds up how often the threads of the session have run. Returns whether one of them runs; -1 if the system does not
 * tell. */
static int session_runs(unsigned long long *runs)
{
	DIR *all = opendir("/proc");
	struct dirent *process;
	int running = 0, any = 0;

	*runs = 0;
	while (all && !running && (process = readdir(all)))
		if (is_ours(process->d_name)) {
			any = 1;
			running = process_runs(process->d_name, runs);
		}
	if (all)
		closedir(all);
	return any && *runs ? running : over ? 0 : -1;
}

/* Reads until nothing happens any more, because what is waited for may have been on the screen before. */
static void settle_now(void)
{
	struct pollfd typed = { .fd = follower, .events = POLLIN };
	unsigned long long before, after;
	time_t late = time(NULL) + PATIENCE;
	int running;

	while (!ended() && time(NULL) <= late) {
		/* poll() delivers what is on its way in the kernel: here what was typed, in pump() what is printed */
		poll(&typed, 1, 0);
		running = session_runs(&before);
		if (running < 0) {
			while (pump(QUIET))
				;
			return;
		}
		if (!pump(running) && !running && !session_runs(&after) && before == after && !pump(0))
			return;
	}
	while (pump(0))
		;
}

static void settle(void)
{
	settle_now();
	if (escaped && !over) {
		while (pump(ESCAPED))
			;
		settle_now();
	}
	escaped = 0;
}

/* ---- steps ---- */

/* In place; returns the length. */
static size_t unescape(char *s)
{
	char *to = s, *begin = s;
	unsigned byte;

	for (; *s; s++) {
		if (*s != '\\' || !s[1]) {
			*to++ = *s;
			continue;
		}
		s++;
		if (*s == 'x' && sscanf(s + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			s += 2;
		} else
			*to++ = *s == 'r' ? '\r' : *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == 'e' ? 27 : *s;
	}
	*to = 0;
	return (size_t)(to - begin);
}

/* Keys of all kinds, except ^D, which may end the command, ^Z, ^C and a newline (even in a paste, because the keys
 * before it may swallow the start of the paste). */
static void random_keys(uint64_t seed, size_t n)
{
	static const char *const keys[] = {
		"\033[A", "\033[B", "\033[C", "\033[D", "\033[H", "\033[F", "\033[3~", "\033[1;5C",
		"\033[1;5D", "\033b", "\033f", "\033d", "\033\177", "\001", "\002", "\005", "\006", "\013",
		"\025", "\027", "\031", "\024", "\014", "\022", "\023", "\020", "\016", "\007", "\033", "\t",
		"\177", "\b", "\033[200~", "\033[201~", "\033[", "\033O", "\033[99;99~",
		"\xe6\xbc\xa2", "e\xcc\x81", "\xf0\x9f\x98\x80", "\xcc\x81", "\xff", "\xe6", "/set t", "/",
		"hello world", "\\", "\"\"\"", "\033[200~one two\033[201~", "\177\177\177"
	};

	for (size_t i = 0; i < n; i++) {
		uint64_t r = mkrandom(seed, i);
		size_t k = r % (sizeof keys / sizeof *keys + 8);

		if (k < sizeof keys / sizeof *keys)
			type(keys[k], strlen(keys[k]));
		else
			type((char[]){ (char)(' ' + (r >> 32) % 95) }, 1);
	}
	type("\033[201~", 6);
}

static void show_modes(void)
{
	struct termios now;

	if (tcgetattr(leader, &now))
		die("tcgetattr");
	puts(now.c_iflag == found.c_iflag && now.c_oflag == found.c_oflag && now.c_cflag == found.c_cflag
		&& now.c_lflag == found.c_lflag && !memcmp(now.c_cc, found.c_cc, sizeof found.c_cc)
		? "modes as found" : "modes CHANGED");
}

static void run(const char *command)
{
	fflush(stdout);
	if (system(command))
		die(command);
}

static void interrupt(void)
{
	time_t late = time(NULL) + PATIENCE;

	while (!ended()) {
		type("\3", 1);
		pump(100);
		if (time(NULL) > late)
			die("it goes on");
	}
}

static void wait_end(int stop)
{
	time_t late = time(NULL) + PATIENCE;

	while (stop ? !has_news() : !ended()) {
		pump(20);
		if (time(NULL) > late)
			die("it goes on");
	}
	while (pump(0))
		;
	if (WIFSTOPPED(status))
		puts("stopped");
	else if (WIFSIGNALED(status))
		printf("signal %d\n", WTERMSIG(status));
	else
		printf("status %d\n", WEXITSTATUS(status));
}

static void step(char *line)
{
	char *argument = line + strcspn(line, " ");
	unsigned long long seed;
	size_t n;

	if (*argument)
		*argument++ = 0;
	if (!strcmp(line, "random") && sscanf(argument, "%llu %zu", &seed, &n) == 2) {
		random_keys(seed, n);
		return;
	}
	if (!strcmp(line, "run")) {
		run(argument);
		return;
	}
	n = unescape(argument);
	if (!strcmp(line, "cursor") || !strcmp(line, "show") || !strcmp(line, "settle"))
		settle();
	if (!strcmp(line, "type"))
		type(argument, n);
	else if (!strcmp(line, "wait") || !strcmp(line, "cursor"))
		wait_for(argument, *line == 'c');
	else if (!strcmp(line, "show"))
		print_screen();
	else if (!strcmp(line, "resize"))
		set_size(argument);
	else if (!strcmp(line, "signal"))
		kill(atoi(argument) == SIGCONT ? -child : child, atoi(argument));
	else if (!strcmp(line, "interrupt"))
		interrupt();
	else if (!strcmp(line, "modes"))
		show_modes();
	else if (!strcmp(line, "stopped"))
		wait_end(1);
	else if (!strcmp(line, "end"))
		wait_end(0);
	else if (*line && *line != '#' && strcmp(line, "settle"))
		die(line);
}

int main(int argc, char **argv)
{
	char line[8192];

	if (argc < 3) {
		fprintf(stderr, "usage: terminal COLUMNSxROWS COMMAND... <steps\n");
		return 2;
	}
	start(argv + 2);
	for (int y = 0; y < ROWS; y++)
		blank(y, 0, COLUMNS);
	set_size(argv[1]);
	while (fgets(line, sizeof line, stdin)) {
		line[strcspn(line, "\n")] = 0;
		step(line);
	}
	if (!ended())
		kill(child, SIGKILL);
	return 0;
}
