/* pipeline: the stages behind each other. The runner and the printer walk the same stages: what --print-pipeline prints
 * is what runs, but for `feed` and `tee`, which are gen itself where it runs. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "gen.h"
#include "loop.h"

/* Starts q's stages, with `text` as the standard output of the last (-1: gen's own). gen's ends of the pipes are
 * those of *l: `in`, `out`, `back`, `copy`; with a chain only the last two. -1 with a reason; some stages may be
 * running. */
int pipeline_start(struct request *q, struct loop *l, int text, struct why *w);

/* Between two turns, where asked(q, EDITED): sample starts again with the options that it has by now, and goes on with
 * the stream where it is. -1 with a reason. */
int pipeline_restart(struct request *q, struct loop *l, struct why *w);

/* Closes gen's ends and waits for all stages, killing those that hang if the work has failed. Returns the number
 * of the stage that failed, and its line in *w; or -1. */
int pipeline_end(struct request *q, struct loop *l, int failing, struct why *w);

/* Prints the shell commands that do the same. */
void pipeline_print(const struct request *q);

#endif
