/* single: prints texts one after the other, each as its ids come, up to a stop string. */
#ifndef SINGLE_H
#define SINGLE_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "printer.h"
#include "settings.h"

struct single {
	/* set by the caller; the rest starts as zeros */
	const struct settings *set;
	const struct printer *line;     /* has the stop strings of the command line, for sequences without their own */
	struct printer printer;         /* closed by single_end() */

	/* read only */
	int stopped;                    /* a stop string has ended the text */
	size_t refused;                 /* sequences whose options were refused; stderr says why */

	/* private */
	int open;                       /* ids came since the last generation ended, */
	uint32_t seq;                   /* of this sequence */
	int own;                        /* which has options of its own */
	uint32_t next;                  /* the position after the last sampled id; 0: not known */
};

/* Handles a frame whose payload has not been read; kinds other than ids, options and ends are ignored. 0, or -1 with a
 * reason. */
int single_frame(struct single *s, struct frame_in *in, const struct frame *f, struct why *w);

/* Call this at the end of the input: prints what was held back, as part of a stop string or of a character. */
int single_end(struct single *s, struct why *w);

#endif
