/* Of all options of detok only --stop can differ between sequences. */
#include "stops.h"

#include <string.h>

void stops_add(const struct cli *c, struct printer *p)
{
	struct why w;

	if (stop_add_quoted(p->stop, c->value, &w))
		cli_refuse(c, "--stop: %s", w.text);
}

static void take(struct cli *c, const struct opt *o, void *printer)
{
	if (o && strcmp(o->name, "stop"))
		cli_whole(c, o);
	if (o)
		stops_add(c, printer);
}

int stops_change(struct printer *p, const struct printer *line, const struct cli *c, const char *words, size_t n,
	struct why *w)
{
	struct printer changed = *p;

	if (!(changed.stop = stop_open(w)))
		return -1;
	if (stop_add_all(changed.stop, line->stop, w) || cli_words(c, words, n, take, &changed, w)) {
		printer_close(&changed);
		return -1;
	}
	changed.found = -1;
	printer_close(p);
	*p = changed;
	return 0;
}

int stops_copy(struct printer *p, const struct printer *from, struct why *w)
{
	struct stop *stop = stop_fork(from->stop, w);

	if (!stop)
		return -1;
	stop_start(stop);
	printer_close(p);
	p->stop = stop;
	return 0;
}
