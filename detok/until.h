/* until: shows text up to a stop string; each piece waits until it is certain not to belong to one. */
#ifndef UNTIL_H
#define UNTIL_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/stream/stop.h"

struct view;
struct shown;

struct until {
	struct stop *strings;           /* set by the caller; borrowed; NULL: the text goes on to the end */
	int found;                      /* read only: the text ended before this string */

	/* private */
	struct shown *waiting;          /* [n] pieces that may belong to a stop string */
	size_t n, room;
	struct bytes text;              /* of these pieces, one after the other */
	size_t certain;                 /* bytes at its start that cannot belong to a stop string */
};

/* Calls the format's token() for what is certain; it gets neither the position nor candidates. -1: out of memory. */
int until_show(struct view *v, const struct shown *s);

/* Shows what still waits, and frees all memory. */
void until_end(struct view *v);

#endif
