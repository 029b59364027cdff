/* stops: the stop strings of a sequence that has options of its own. */
#ifndef STOPS_H
#define STOPS_H

#include "lib/base/cli.h"
#include "lib/base/why.h"
#include "printer.h"

/* Adds the value of --stop to the printer's stop strings. */
void stops_add(const struct cli *c, struct printer *p);

/* From now on p stops at the strings of `line`, as the command line of c has them, and of the options words[n] of its
 * sequence. -1 with the reason, and nothing has changed, if these are refused. */
int stops_change(struct printer *p, const struct printer *line, const struct cli *c, const char *words, size_t n,
	struct why *w);

/* From now on p, whose text has not begun, stops at the strings of `from`. */
int stops_copy(struct printer *p, const struct printer *from, struct why *w);

#endif
