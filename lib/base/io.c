/* io: loops around read(2) and writev(2); and select(2), which takes shorter times than poll(2)'s milliseconds. */
#include "io.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/select.h>
#include <unistd.h>

/* After a call that failed: waits until the descriptor is ready and returns 1 if it should be repeated; 0 if it is an
 * error. */
static int again(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	if (errno == EINTR)
		return 1;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return 0;
	return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

ssize_t io_read(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(fd, to, n);
	while (got < 0 && again(fd, POLLIN));
	return got;
}

int io_readable(int fd, double seconds)
{
	struct timeval left = { .tv_sec = 0 };
	fd_set set;

	if (seconds > 0) {
		left.tv_sec = (time_t)seconds;
		left.tv_usec = (suseconds_t)(1e6 * (seconds - (double)left.tv_sec));
	}
	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, &left) > 0;
}

int io_write_vector(int fd, struct iovec *v, int count, struct why *w)
{
	ssize_t put;

	while (count) {
		if (!v->iov_len) {
			v++, count--;
			continue;
		}
		if ((put = writev(fd, v, count)) < 0) {
			if (again(fd, POLLOUT))
				continue;
			return why(w, "%s%s", fd == 1 ? "standard output: " : "", strerror(errno));
		}
		for (; count && (size_t)put >= v->iov_len; v++, count--)
			put -= (ssize_t)v->iov_len;
		if (count) {
			v->iov_base = (char *)v->iov_base + put;
			v->iov_len -= (size_t)put;
		}
	}
	return 0;
}

int io_write(int fd, const void *from, size_t n, struct why *w)
{
	struct iovec v = { (void *)(uintptr_t)from, n };

	return io_write_vector(fd, &v, 1, w);
}
