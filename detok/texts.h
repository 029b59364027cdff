/* texts: the text of each sequence of a stream, on one line each: as its sequence ends, or in the order of their
 * numbers. A text is kept until it is printed. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/stream/sequences.h"
#include "printer.h"

struct texts {                          /* set by the caller, the rest zeroes: */
	struct printer printer;         /* that of each text is a copy; puts nothing itself */
	int generated;                  /* only what a sampler drew */
	int ordered, json;
	int end_fd;                     /* for an `end ` frame of each, or -1 */

	struct sequences sequences;     /* private; of struct text */
	uint32_t next;                  /* number of the next line; with `ordered` */
	int first_over;                 /* sequence 0 is over */
};

/* The next frame, whose payload is unread; of ids and ends only. -1 with a reason; so for all. */
int texts_frame(struct texts *t, struct frame_in *in, const struct frame *f, struct why *w);

/* At the end of the input: prints the texts that are left. */
int texts_end(struct texts *t, struct why *w);

#endif
