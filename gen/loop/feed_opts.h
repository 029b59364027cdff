/* feed_opts: the options of feed. gen passes them on to the loop that it runs itself, and prints them. */
#ifndef FEED_OPTS_H
#define FEED_OPTS_H

#include "lib/base/cli.h"
#include "draft.h"
#include "loop.h"
#include "replay.h"

extern const struct opt feed_opts[];
extern const struct cli_rule feed_rules[];

/* Reads the command line into *l, *draft, *model, the draft's fwd, and replay->name. Sets l->draft, draft->model and
 * l->replay if they are used, and all of model->argv except [0]. The file of --replay is for the caller to read. Usage
 * errors end the program by cli_usage(). Afterwards c->argv[0] is the FIFO. */
void feed_options(struct loop *l, struct draft *draft, struct replay *replay, struct stage *model, struct cli *c);

#endif
