/* pipeline: tok and fwd as child processes: texts are written to tok by a thread, since embeddings come back long
 * before the last text is written. */
#ifndef PIPELINE_H
#define PIPELINE_H

#include <pthread.h>

#include "items.h"
#include "lib/base/why.h"
#include "lib/process/stages.h"

enum { PIPELINE_TOK, PIPELINE_FWD, PIPELINE_STAGES };

struct pipeline {
	struct stage stage[PIPELINE_STAGES];    /* their commands, by the caller */
	struct items items;                     /* what is read, by the caller */

	/* private */
	pthread_t thread;
	int to;                                 /* tok's standard input */
	pthread_mutex_t lock;
	struct item *first, **last;             /* that were written and not taken */
	int done;                               /* all have been written */
	int failed;                             /* items_next() has, for this reason */
	struct why why;
};

/* Starts it. Returns the descriptor that embeddings come from, which the caller closes; -1 with a reason. */
int pipeline_start(struct pipeline *p, struct why *w);

/* The item whose turn it is, which is there once its embedding is; the caller frees it. NULL: there is none. */
struct item *pipeline_take(struct pipeline *p);

/* Call at the end of the embeddings. Returns 0; 1 with a reason if a stage failed although all items were taken, which
 * may be due to single texts; -1 with a reason if some items were not taken, or the texts could not be read. */
int pipeline_wait(struct pipeline *p, struct why *w);

#endif
