/* feed_opts: the options of feed. gen passes them on to the loop that it runs itself, and prints them. */
#ifndef FEED_OPTS_H
#define FEED_OPTS_H

#include "lib/base/cli.h"
#include "draft.h"
#include "loop.h"

extern const struct opt feed_opts[];
extern const struct cli_rule feed_rules[];

/* Reads the command line into *l, *draft and *model, the draft's fwd. Sets l->draft and draft->model if they are used,
 * and all of model->argv except [0]. Usage errors end the program by cli_usage(). Afterwards c->argv[0] is the FIFO. */
void feed_options(struct loop *l, struct draft *draft, struct stage *model, struct cli *c);

#endif
