/* The line of a long wait. */
#include "progress.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/base/clock.h"

enum { EVERY = 200 };           /* milliseconds between two looks at the clock */

void progress_wait(const struct frame_in *in, double begin, size_t n, void (*look)(void *context), void *context)
{
	struct pollfd ready = { .fd = in->fd, .events = POLLIN };
	int tells = isatty(STDERR_FILENO), shown = 0, got;
	double waited;

	if ((!tells && !look) || in->used < in->have)
		return;
	while ((got = poll(&ready, 1, EVERY)) == 0 || (got < 0 && errno == EINTR)) {
		if (look)
			look(context);
		waited = clock_now() - begin;
		if (!tells || waited < 1)
			continue;
		fprintf(stderr, "\rgen: a prompt of %zu ids, %.1f s", n, waited);
		shown = 1;
	}
	if (shown)
		fprintf(stderr, "\r\033[K");
}
