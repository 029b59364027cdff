/* pipeline: starts the stages one after another. Running and printing follow the same stages: --print-pipeline prints
 * what runs, except that `feed` and `tee` are gen itself when it runs. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include "gen/loop/loop.h"
#include "request.h"

/* Starts q's stages, with `text` as the standard output of the last (-1: gen's own). Stores gen's ends of the pipes in
 * *l: `in`, `out`, `back`, `copy`. Returns -1 with a reason; some stages may then be running. */
int pipeline_start(struct request *q, struct loop *l, int text, struct why *w);

/* Between two turns, if q->edited: restarts sample with its current options; it continues with the stream where
 * the old one stopped. Returns -1 with a reason on failure. */
int pipeline_restart(struct request *q, struct loop *l, struct why *w);

/* Closes gen's ends and waits for all stages; if the work has failed, kills those that hang. Returns the number of the
 * stage that failed, with its error line in *w; or -1. */
int pipeline_end(struct request *q, struct loop *l, int failing, struct why *w);

/* Prints shell commands that do the same. */
void pipeline_print(const struct request *q);

#endif
