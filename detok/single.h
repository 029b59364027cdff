/* single: prints the text of one sequence at a time, as its ids come, up to a stop string. */
#ifndef SINGLE_H
#define SINGLE_H

#include <stdint.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "printer.h"

struct single {                         /* set by the caller, the rest zeros but for `next`: */
	struct printer printer;         /* of its own text; to be closed by single_end() */
	const struct printer *line;     /* with the stop strings of the command line */
	const struct cli *c;            /* the options of sequences are in its tables */
	int generated;                  /* only what a sampler drew */
	int pieces;                     /* prints each id on a line, with its text */
	const char *suffix;             /* is printed after each text */
	int end_fd;                     /* receives an `end ` frame for each text; or -1 */
	const char *end;                /* its name */
	uint32_t next;                  /* FRAME_APPEND; then the position after the last sampled id, if it is known */

	int stopped;                    /* read only: a stop string has ended the text */
	size_t refused;                 /* and: sequences whose options were refused; stderr says why */
	int open;                       /* private: ids came since the last generation ended, */
	uint32_t seq;                   /* of this sequence */
	int own;                        /* which has options of its own */
};

/* Handles the next frame, of ids, options or an end, whose payload must be unread. Returns -1 with a reason on
 * failure. */
int single_frame(struct single *s, struct frame_in *in, const struct frame *f, struct why *w);

/* At the end of the input: prints what was held back. */
int single_end(struct single *s, struct why *w);

#endif
