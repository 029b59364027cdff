/* scorer: `fwd --score` as a child process, which is given the tokens of items and returns their scores. */
#ifndef SCORER_H
#define SCORER_H

#include <pthread.h>

#include "items.h"
#include "lib/process/stages.h"

struct scorer {
	struct stage fwd;               /* its command, by the caller */

	/* private */
	const struct items *items;
	pthread_t thread;               /* writes the tokens */
	int to;
};

/* Starts it. Returns the descriptor that the scores come from, which the caller closes; -1 with a reason. */
int scorer_start(struct scorer *s, const struct items *items, struct why *w);

/* Waits for its end; -1 if it failed. If the scores were not read to their end, their descriptor must be closed. */
int scorer_wait(struct scorer *s, struct why *w);

#endif
