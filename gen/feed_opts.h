/* feed_opts: the options of feed. gen passes them on to the loop that it runs itself, and prints them. */
#ifndef FEED_OPTS_H
#define FEED_OPTS_H

#include <stdint.h>

#include "lib/base/cli.h"
#include "draft.h"
#include "loop.h"

struct feed_settings {
	int64_t n, repeat;      /* as in struct loop */
	int drafts;
	struct draft draft;     /* with `drafts` */
	struct stage model;     /* the draft's fwd, where there is one; all but its argv[0] */
	char most[24];          /* one of its arguments */
};

extern const struct opt feed_opts[];

/* Reads the command line; mistakes end the program by cli_usage(). c->argv[0] is the FIFO then. */
void feed_settings(struct feed_settings *set, struct cli *c);

#endif
