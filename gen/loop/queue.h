/* queue: frames that wait until a pipe accepts them, so that a full pipe does not block the loop. */
#ifndef QUEUE_H
#define QUEUE_H

#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"
#include "lib/stream/card.h"

struct queue {                  /* starts as QUEUE_EMPTY */
	struct bytes bytes;     /* those before `sent` have been written */
	size_t sent;
};

#define QUEUE_EMPTY { .bytes.limit = SIZE_MAX }

/* Append a frame or a card for the pipe fd; -1: there is none, and it is dropped. */
int queue_put(struct queue *q, int fd, const struct frame *f, const void *payload, struct why *w);
int queue_card(struct queue *q, int fd, const struct card *card, struct why *w);

/* Bytes that have not been written yet. */
static inline size_t queue_pending(const struct queue *q)
{
	return q->bytes.n - q->sent;
}

/* Writes at most PIPE_BUF bytes, which a pipe that is ready accepts without blocking. Returns 0; 1 if the pipe has no
 * reader; -1 with a reason. */
int queue_write(struct queue *q, int fd, struct why *w);

/* Drops everything and frees the memory; the queue is empty. */
void queue_clear(struct queue *q);

#endif
