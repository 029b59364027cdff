/* One buffer, from whose front is written. */
#include "queue.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/size.h"

#ifndef PIPE_BUF
#define PIPE_BUF _POSIX_PIPE_BUF
#endif

static int no_memory(struct why *w)
{
	return why(w, "out of memory for frames that wait");
}

int queue_put(struct queue *q, int fd, const struct frame *f, const void *payload, struct why *w)
{
	return fd >= 0 && frame_append(&q->bytes, f, payload) ? no_memory(w) : 0;
}

int queue_card(struct queue *q, int fd, const struct card *card, struct why *w)
{
	return fd >= 0 && card_append(&q->bytes, card) ? no_memory(w) : 0;
}

int queue_write(struct queue *q, int fd, struct why *w)
{
	size_t pending = queue_pending(q);
	ssize_t n = pending ? write(fd, q->bytes.p + q->sent, size_min(pending, PIPE_BUF)) : 0;

	if (n < 0 && errno == EPIPE)
		return 1;
	if (n < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
		return why(w, "%s: %s", fd == STDOUT_FILENO ? "standard output" : "a pipe", strerror(errno));
	if (n <= 0)
		return 0;
	q->sent += (size_t)n;
	pending -= (size_t)n;
	/* move pending bytes to the front when they are the smaller part, so that a queue that is never empty does not
	 * grow */
	if (q->sent >= pending) {
		memmove(q->bytes.p, q->bytes.p + q->sent, pending);
		q->bytes.n = pending;
		q->sent = 0;
	}
	return 0;
}

void queue_clear(struct queue *q)
{
	bytes_free(&q->bytes);
	q->sent = 0;
}
