/* The line of progress. */
#include "progress.h"

#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/progress_line.h"

#define FIRST 1.0                       /* seconds before the first line; */
#define NEXT 0.2                        /* before the next */

void progress_start(struct progress *p, const char *what, size_t all)
{
	*p = (struct progress){ .what = what, .all = all, .begin = isatty(STDERR_FILENO) ? clock_now() : 0 };
}

void progress_show(struct progress *p, size_t done)
{
	double now;

	if (!(p->begin > 0) || !done || (now = clock_now()) < p->begin + FIRST || now < p->shown + NEXT)
		return;
	progress_line("%zu of %zu %s, %.0f s left", done, p->all, p->what,
		(now - p->begin) * (double)(p->all - done) / (double)done);
	p->shown = now;
}

void progress_end(void)
{
	progress_line_clear();
}
