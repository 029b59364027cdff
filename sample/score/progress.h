/* progress: shows on a terminal how much of a long computation is done. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

struct progress {
	const char *what;               /* set by the caller: the plural of what is counted */
	size_t all;

	/* private */
	double begin, shown;            /* clock_now() at the start, and when the line was last written; 0: never */
};

void progress_start(struct progress *p, const char *what, size_t all);

/* Says on stderr, if that is a terminal, how many are done and how many seconds are left: once a second has passed, and
 * five times a second at most. */
void progress_show(struct progress *p, size_t done);

/* Clears the line. */
void progress_end(void);

#endif
