/* single: prints texts one after the other, each as its ids come, up to a stop string. */
#ifndef SINGLE_H
#define SINGLE_H

#include <stdint.h>

#include "lib/base/cli.h"
#include "lib/stream/frame.h"
#include "printer.h"

struct single {
	/* set by the caller; the rest starts as zeros */
	struct printer printer;         /* closed by single_end() */
	const struct printer *line;     /* has the stop strings of the command line, for sequences without their own */
	const struct cli *c;            /* has the tables that the options of sequences are in */
	int generated;                  /* print only what a sampler drew */
	int pieces;                     /* print each id on a line, with its text */
	const char *suffix;             /* printed after each text */
	int end_fd;                     /* receives an `end ` frame for each text; or -1 */
	const char *end;                /* its name */
	uint32_t next;                  /* FRAME_APPEND; then private: the position after the last sampled id */

	/* read only */
	int stopped;                    /* a stop string has ended the text */
	size_t refused;                 /* sequences whose options were refused; stderr says why */

	/* private */
	int open;                       /* ids came since the last generation ended, */
	uint32_t seq;                   /* of this sequence */
	int own;                        /* which has options of its own */
};

/* Handles a frame whose payload has not been read; kinds other than ids, options and ends are ignored. 0, or -1 with a
 * reason. */
int single_frame(struct single *s, struct frame_in *in, const struct frame *f, struct why *w);

/* Call this at the end of the input: prints what was held back, as part of a stop string or of a character. */
int single_end(struct single *s, struct why *w);

#endif
