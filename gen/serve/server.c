/* One loop, which never waits but in poll(). */
#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "connection.h"

enum {
	GRACE = 10,             /* seconds in which answers are completed after a signal */
	FAREWELL = 2,           /* seconds in which clients take what they are told at the end */
	PAUSE = 1               /* seconds without accepting, after descriptors were short */
};

struct peer {
	struct connection c;
	int in, out;            /* descriptors; in -1: its input has ended */
	int is_socket;          /* the same for both, without blocking; the end of its input is its leaving */
	int lingers;            /* all output is sent; its input is discarded until it has read that */
	int gone;
	int lost;               /* an error of standard input or output, but for a reader who has left; 0: none */
	double moved;           /* when some of the output was last sent, or it was empty */
	struct peer *next;
};

/* What poll() looks at, in the order of descriptors[]. Peers follow, each with one if it is a socket, or else two. With
 * more than the process may have open, poll() fails. */
enum { POLL_SIGNALS, POLL_LISTENER, POLL_ENGINE_OUT, POLL_ENGINE_IN, POLL_PEERS };

static int signals[2] = { -1, -1 };

static void on_signal(int sig)
{
	int before = errno;
	ssize_t put = write(signals[1], "", 1);

	(void)put;
	errno = before;
}

static int take_signals(struct why *w)
{
	struct sigaction act = { .sa_handler = on_signal };

	if (stage_pipe(signals, w))
		return -1;
	if (fcntl(signals[0], F_SETFL, O_NONBLOCK) || fcntl(signals[1], F_SETFL, O_NONBLOCK))
		return why(w, "pipe: %s", strerror(errno));
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* ^C reaches the engine as well, but what is being answered can be completed */
	stages_block_interrupts();
	return 0;
}

/* ---- peers ---- */

static struct peer *add_peer(struct server *v, int in, int out, double now)
{
	struct peer *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	p->in = in;
	p->out = out;
	p->moved = now;
	connection_start(&p->c, &v->service, now);
	p->next = v->peers;
	v->peers = p;
	v->service.counts.connections = ++v->n_peers;
	return p;
}

static void remove_gone(struct server *v)
{
	struct peer **at = &v->peers, *p;

	while ((p = *at)) {
		if (!p->gone) {
			at = &p->next;
			continue;
		}
		*at = p->next;
		v->lost = p->lost;
		connection_end(&p->c);
		if (p->is_socket && p->out > STDERR_FILENO)
			close(p->out);
		free(p);
		v->service.counts.connections = --v->n_peers;
	}
}

/* The client on standard input and output. */
static int add_standard(struct server *v, struct why *w)
{
	struct peer *p = add_peer(v, STDIN_FILENO, STDOUT_FILENO, clock_now());
	struct stat in, out;

	if (!p)
		return why(w, "out of memory");
	if (!fstat(STDIN_FILENO, &in) && !fstat(STDOUT_FILENO, &out) && S_ISSOCK(in.st_mode)
	    && in.st_ino == out.st_ino && in.st_dev == out.st_dev) {
		p->is_socket = 1;
		if (fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK))
			return why(w, "standard output: %s", strerror(errno));
	}
	return 0;
}

static void accept_all(struct server *v, double now)
{
	int on = 1, fd;
	struct peer *p;

	while (v->n_peers < v->connections && (fd = accept(v->address.fd, NULL, NULL)) >= 0) {
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_NONBLOCK)
		    || !(p = add_peer(v, fd, fd, now))) {
			close(fd);
			continue;
		}
		p->is_socket = 1;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	}
	if (v->n_peers < v->connections && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
		v->paused = now + PAUSE;
}

static void read_peer(struct peer *p)
{
	char piece[64 << 10];
	ssize_t got = read(p->in, piece, sizeof piece);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got > 0) {
		if (!p->lingers)
			connection_take(&p->c, piece, (size_t)got);
		return;
	}
	p->in = -1;
	p->lost = got < 0 && !p->is_socket ? errno : 0;
	if (got < 0 || p->lingers || (p->is_socket && connection_is_answering(&p->c)))
		p->gone = 1;
}

/* A pipe or terminal may be shared with others, so that it must stay as it is, and a write may wait; but not one of
 * these few bytes, when poll() says that it can be written to. */
static void write_peer(struct peer *p, double now)
{
	struct connection *c = &p->c;

	while (!p->gone && c->sent < c->output.n) {
		size_t n = c->output.n - c->sent;
		ssize_t put = write(p->out, c->output.p + c->sent, p->is_socket || n < _POSIX_PIPE_BUF ? n
			: _POSIX_PIPE_BUF);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0) {
			p->gone = errno != EAGAIN;
			p->lost = p->is_socket || errno == EPIPE ? 0 : errno;
			return;
		}
		connection_sent(c, (size_t)put);
		p->moved = now;
		if (!p->is_socket)
			return;
	}
}

/* All that the connection will say is sent. */
static void finish_peer(struct peer *p, double now)
{
	if (p->is_socket && p->c.unread && p->in >= 0 && !p->lingers && !shutdown(p->out, SHUT_WR)) {
		p->lingers = 1;
		p->moved = now;
	} else if (!p->lingers) {
		p->gone = 1;
	}
}

/* Goes on with what a peer has said and can be told. */
static void advance_peer(struct server *v, struct peer *p, double now)
{
	struct connection *c = &p->c;

	if (p->lingers) {
		p->gone |= now >= p->moved + FAREWELL;
		return;
	}
	if (c->sent == c->output.n)
		p->moved = now;
	connection_advance(c, now);
	if (now >= connection_deadline(c, v->patience)) {
		connection_late(c, now);
		connection_advance(c, now);
	}
	if (p->is_socket)
		write_peer(p, now);
	if (c->sent < c->output.n)
		p->gone |= now >= p->moved + v->patience;
	else if (c->closing || (!connection_is_answering(c) && (p->in < 0 || (v->ends && connection_is_idle(c)))))
		finish_peer(p, now);
}

/* ---- the end ---- */

static int was_signalled(void)
{
	char byte;

	return read(signals[0], &byte, 1) == 1;
}

/* After a signal, nothing new is begun; after a second one, or when time is over, what is being answered is cut off. */
static void begin_ending(struct server *v, double now)
{
	v->was_ended = 1;
	v->service.ending = 1;
	v->ends = v->ends ? now : now + GRACE;
	if (v->listening)
		address_close(&v->address);
}

static void fail_all(struct server *v, const char *message, double now)
{
	for (struct peer *p = v->peers; p; p = p->next) {
		if (connection_is_answering(&p->c) && !p->c.exchange.done) {
			p->c.exchange.reply.keep = 0;
			exchange_fail(&p->c.exchange, 503, NULL, message);
		}
		connection_advance(&p->c, now);
		p->c.closing = 1;
	}
}

static void end_engine(struct server *v, struct why *w, double now)
{
	struct why of_engine;

	/* the engine's own line says more than what its end did here */
	if (engine_end(&v->service.engine, w->text[0] != 0, &of_engine))
		*w = of_engine;
	else if (!w->text[0])
		why(w, "the engine has ended");
	/* it may have got the same signal, a moment earlier */
	if (was_signalled())
		begin_ending(v, now);
	v->service.ending = 1;
	v->ends = now + FAREWELL;
	if (v->listening)
		address_close(&v->address);
	fail_all(v, "the engine has ended", now);
}

/* ---- the loop ---- */

static double earliest(const struct server *v, double now)
{
	double at = v->ends ? v->ends : HUGE_VAL;

	if (v->paused > now && v->paused < at)
		at = v->paused;
	for (const struct peer *p = v->peers; p; p = p->next) {
		double due = p->lingers ? p->moved + FAREWELL : p->c.sent < p->c.output.n ? p->moved + v->patience
			: connection_deadline(&p->c, v->patience);

		if (due < at)
			at = due;
	}
	return at;
}

static size_t watched(const struct peer *p)
{
	return p->is_socket ? 1 : 2;
}

/* Returns how many descriptors are to be looked at. */
static size_t watch(struct server *v, struct pollfd *fds, double now)
{
	const struct engine *e = &v->service.engine;
	struct pollfd *f = fds + POLL_PEERS;

	fds[POLL_SIGNALS] = (struct pollfd){ signals[0], POLLIN, 0 };
	fds[POLL_LISTENER] = (struct pollfd){ v->listening && !v->ends && v->n_peers < v->connections
		&& v->paused <= now ? v->address.fd : -1, POLLIN, 0 };
	fds[POLL_ENGINE_OUT] = (struct pollfd){ e->ended ? -1 : e->out, POLLIN, 0 };
	fds[POLL_ENGINE_IN] = (struct pollfd){ engine_waits_to_write(e) ? e->in : -1, POLLOUT, 0 };
	for (const struct peer *p = v->peers; p; f += watched(p), p = p->next) {
		short in = p->in >= 0 && (p->lingers || connection_wants_input(&p->c)) ? POLLIN : 0;
		short out = p->c.sent < p->c.output.n ? POLLOUT : 0;

		if (p->is_socket) {
			f[0] = (struct pollfd){ p->out, in | out, 0 };
		} else {
			f[0] = (struct pollfd){ in ? p->in : -1, in, 0 };
			f[1] = (struct pollfd){ p->out, out, 0 };
		}
	}
	return (size_t)(f - fds);
}

/* Reads from and writes to the peers, of which the first have been watched. */
static void move_peers(struct server *v, const struct pollfd *f, size_t n, double now)
{
	struct peer *p = v->peers;

	/* new peers are in front */
	for (size_t new = v->n_peers - n; new; new--)
		p = p->next;
	for (; p; f += watched(p), p = p->next) {
		short out = f[watched(p) - 1].revents;

		if (p->in >= 0 && f[0].revents & ~POLLOUT)
			read_peer(p);
		if (out & (POLLERR | POLLNVAL))
			p->gone = 1;
		else if (out & POLLOUT)
			write_peer(p, now);
	}
}

/* -1: the engine has failed. */
static int move_engine(struct server *v, const struct pollfd *fds, struct why *w)
{
	struct engine *e = &v->service.engine;
	int got = 1;

	if (e->ended)
		return 0;
	if (fds[POLL_ENGINE_OUT].revents && (got = engine_read(e, w)) > 0)
		got = service_take(&v->service, w) ? -1 : 1;
	return got < 1 ? -1 : 0;
}

/* One round of the loop. -1: the engine has failed. */
static int step(struct server *v, struct pollfd *fds, struct why *w)
{
	double now = clock_now(), at = earliest(v, now);
	double wait = at > now ? ceil(1000 * (at - now)) : 0;
	size_t n = v->n_peers, n_watched = watch(v, fds, now);
	int failed;

	w->text[0] = 0;
	if (poll(fds, (nfds_t)n_watched, wait < 60000 ? (int)wait : 60000) < 0) {
		if (errno != EINTR)
			return why(w, "poll: %s", strerror(errno));
		for (size_t i = 0; i < n_watched; i++)
			fds[i].revents = 0;
	}
	now = clock_now();
	if (was_signalled())
		begin_ending(v, now);
	failed = move_engine(v, fds, w);
	if (fds[POLL_LISTENER].revents && v->listening && !v->ends)
		accept_all(v, now);
	move_peers(v, fds + POLL_PEERS, n, now);
	remove_gone(v);
	if (failed)
		return -1;
	for (struct peer *p = v->peers; p; p = p->next)
		advance_peer(v, p, now);
	remove_gone(v);
	return v->service.engine.ended ? 0 : engine_write(&v->service.engine, w);
}

/* Serves until nobody is left to be served. */
static int loop(struct server *v, struct why *w)
{
	struct pollfd *fds = NULL;
	struct why later;
	size_t room = 0;
	int failed = 0;

	while ((v->listening && !v->ends) || v->peers) {
		double now = clock_now();

		if (grow_scratch(&fds, &room, (POLL_PEERS + 2 * v->n_peers) * sizeof *fds)) {
			failed = why(w, "out of memory");
			break;
		}
		if (v->ends && now >= v->ends) {
			if (failed || v->service.engine.ended)
				break;
			fail_all(v, "the server is ending", now);
			v->ends = now + FAREWELL;
			v->service.engine.ended = 1;
		}
		if (step(v, fds, failed ? &later : w) && !failed) {
			failed = -1;
			end_engine(v, w, now);
		}
	}
	free(fds);
	return failed;
}

int server_run(struct server *v, struct why *w)
{
	struct engine *e = &v->service.engine;
	struct why ignored;
	int failed;

	if (take_signals(w) || engine_start(e, w))
		return -1;
	failed = service_begin(&v->service) ? why(w, "out of memory") : 0;
	if (!failed && !v->listening)
		failed = add_standard(v, w);
	if (!failed)
		failed = loop(v, w);
	if (!failed && v->lost)
		failed = why(w, "standard input or output: %s", strerror(v->lost));
	for (struct peer *p = v->peers; p; p = p->next)
		p->gone = 1;
	remove_gone(v);
	if (v->listening)
		address_close(&v->address);
	if (e->out)
		failed = engine_end(e, v->was_ended || e->n_pending > 0, failed ? &ignored : w) || failed ? -1 : 0;
	service_free(&v->service);
	return v->was_ended ? 0 : failed;
}
