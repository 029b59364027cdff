/* Text up to a stop string: pieces wait until they are certain not to belong to one. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "render.h"

/* A stop's put(). */
static void count(void *context, const char *s, size_t n)
{
	struct render *r = context;

	r->certain += n;
}

/* The first n bytes of piece number i, whose text is at `from`. */
static void show(struct render *r, size_t i, size_t from, size_t n)
{
	struct shown s = r->waiting[i];

	s.text = r->held.p + from;
	s.n = n;
	r->kind->show(r, &s);
}

/* Shows the pieces that are certain; `whole` or in part. */
static void release(struct render *r, int whole)
{
	size_t i = 0, at = 0;

	for (; i < r->n_waiting && at + r->waiting[i].n <= r->certain; at += r->waiting[i++].n)
		show(r, i, at, r->waiting[i].n);
	if (!whole && i < r->n_waiting && at < r->certain)
		show(r, i, at, r->certain - at);
	memmove(r->held.p, r->held.p + at, r->held.n - at);
	memmove(r->waiting, r->waiting + i, (r->n_waiting - i) * sizeof *r->waiting);
	r->held.n -= at;
	r->certain -= at;
	r->n_waiting -= i;
}

int render_stop(struct render *r, const struct shown *s)
{
	if ((r->n_waiting == r->waiting_room && grow(&r->waiting, &r->waiting_room, sizeof *r->waiting, 16)) ||
	    bytes_put(&r->held, s->text, s->n))
		return -1;
	r->waiting[r->n_waiting] = *s;
	r->waiting[r->n_waiting].at = NULL;
	r->waiting[r->n_waiting].best = NULL;
	r->waiting[r->n_waiting++].n_best = 0;
	r->stopped = stop_feed(r->stop, s->text, s->n, count, r) >= 0;
	release(r, !r->stopped);
	return 0;
}

void render_stop_end(struct render *r)
{
	if (!r->stopped && r->n_waiting) {
		stop_end(r->stop, count, r);
		release(r, 1);
	}
	bytes_free(&r->held);
	free(r->waiting);
}
