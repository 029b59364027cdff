/* The line of a long wait. */
#include "progress.h"

#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "../lib/clock.h"

enum { EVERY = 200 };           /* milliseconds between two looks at the clock */

void progress_wait(const struct frame_in *in, double begin, size_t n)
{
	struct pollfd ready = { .fd = in->fd, .events = POLLIN };
	int shown = 0;
	double waited;

	if (!isatty(STDERR_FILENO) || in->used < in->have)
		return;
	while (poll(&ready, 1, EVERY) == 0) {
		waited = clock_now() - begin;
		if (waited < 1)
			continue;
		fprintf(stderr, "\rgen: a prompt of %zu ids, %.1f s", n, waited);
		shown = 1;
	}
	if (shown)
		fprintf(stderr, "\r\033[K");
}
