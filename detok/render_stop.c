/* Text up to a stop string. */
#include "render_stop.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

/* A stop's put(). */
static void count(void *context, const char *s, size_t n)
{
	struct render_stop *stop = context;

	stop->certain += n;
}

/* Shows the first n bytes of piece number i, whose text starts at `from`. */
static void show(struct render *r, size_t i, size_t from, size_t n)
{
	struct shown s = r->stop.waiting[i];

	s.text = r->stop.text.p + from;
	s.n = n;
	r->kind->show(r, &s);
}

/* Shows the pieces that are certain; whole: only complete pieces. */
static void release(struct render *r, int whole)
{
	struct render_stop *stop = &r->stop;
	size_t i = 0, at = 0;

	for (; i < stop->n && at + stop->waiting[i].n <= stop->certain; at += stop->waiting[i++].n)
		show(r, i, at, stop->waiting[i].n);
	if (!whole && i < stop->n && at < stop->certain)
		show(r, i, at, stop->certain - at);
	memmove(stop->text.p, stop->text.p + at, stop->text.n - at);
	memmove(stop->waiting, stop->waiting + i, (stop->n - i) * sizeof *stop->waiting);
	stop->text.n -= at;
	stop->certain -= at;
	stop->n -= i;
}

int render_stop_show(struct render *r, const struct shown *s)
{
	struct render_stop *stop = &r->stop;
	struct shown *last;

	if ((stop->n == stop->room && grow(&stop->waiting, &stop->room, sizeof *stop->waiting, 16))
	    || bytes_put(&stop->text, s->text, s->n))
		return -1;
	last = &stop->waiting[stop->n++];
	*last = *s;
	last->at = NULL;
	last->best = NULL;
	last->n_best = 0;
	stop->found = stop_feed(stop->strings, s->text, s->n, count, stop) >= 0;
	release(r, !stop->found);
	return 0;
}

void render_stop_end(struct render *r)
{
	struct render_stop *stop = &r->stop;

	if (!stop->found && stop->n) {
		stop_end(stop->strings, count, stop);
		release(r, 1);
	}
	bytes_free(&stop->text);
	free(stop->waiting);
}
