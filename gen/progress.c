/* The line of a long wait. */
#include "progress.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"

enum { EVERY = 200 };           /* milliseconds between two looks at the clock */

void (*progress_cancel)(void);

static void tell(const struct loop *l, int *shown)
{
	double waited = clock_now() - l->r->begin;

	if (waited < 1)
		return;
	fprintf(stderr, "\rgen: a prompt of %zu tokens, %.1f s", l->r->prompt.n, waited);
	*shown = 1;
}

void progress_wait(struct loop *l)
{
	/* A descriptor without events tells of a pipe that nobody reads any more. */
	struct pollfd ready[2] = { { .fd = l->back.fd, .events = POLLIN }, { .fd = l->copy } };
	int terminal = isatty(STDERR_FILENO), shown = 0, got;

	if (l->back.used < l->back.have)
		return;
	while ((got = poll(ready, 2, EVERY)) == 0 || (got < 0 && errno == EINTR)) {
		if (progress_cancel && l->cancelled && l->cancelled())
			progress_cancel();
		if (terminal && l->r)
			tell(l, &shown);
	}
	if (shown)
		fprintf(stderr, "\r\033[K");
	/* Nobody is left to read: `back` ends as the stages before it find out. */
	if (!ready[0].revents && ready[1].revents & (POLLERR | POLLHUP | POLLNVAL))
		l->gone = 1;
}
