/* Text up to a stop string. */
#include "until.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "view.h"

/* A stop's put(). */
static void count(void *context, const char *s, size_t n)
{
	struct until *u = context;

	u->certain += n;
}

/* Shows the first n bytes of piece number i, whose text starts at `from`. */
static void show(struct view *v, size_t i, size_t from, size_t n)
{
	struct shown s = v->until.waiting[i];

	s.text = v->until.text.p + from;
	s.n = n;
	v->format->token(v, &s);
}

/* Shows the pieces that are certain; whole: only complete pieces. */
static void release(struct view *v, int whole)
{
	struct until *u = &v->until;
	size_t i = 0, at = 0;

	for (; i < u->n && at + u->waiting[i].n <= u->certain; at += u->waiting[i++].n)
		show(v, i, at, u->waiting[i].n);
	if (!whole && i < u->n && at < u->certain)
		show(v, i, at, u->certain - at);
	memmove(u->text.p, u->text.p + at, u->text.n - at);
	memmove(u->waiting, u->waiting + i, (u->n - i) * sizeof *u->waiting);
	u->text.n -= at;
	u->certain -= at;
	u->n -= i;
}

int until_show(struct view *v, const struct shown *s)
{
	struct until *u = &v->until;
	struct shown *last;

	if ((u->n == u->room && grow(&u->waiting, &u->room, sizeof *u->waiting, 16))
	    || bytes_put(&u->text, s->text, s->n))
		return -1;
	last = &u->waiting[u->n++];
	*last = *s;
	last->at = NULL;
	last->best = NULL;
	last->n_best = 0;
	u->found = stop_feed(u->strings, s->text, s->n, count, u) >= 0;
	release(v, !u->found);
	return 0;
}

void until_end(struct view *v)
{
	struct until *u = &v->until;

	if (!u->found && u->n) {
		stop_end(u->strings, count, u);
		release(v, 1);
	}
	bytes_free(&u->text);
	free(u->waiting);
}
