/* choices: finds the most likely choice of each item from the log-probabilities of its tokens, and how often it is the
 * answer. */
#ifndef CHOICES_H
#define CHOICES_H

#include "figures.h"
#include "items.h"
#include "lib/sampler/positions.h"

struct choices {
	struct items items;             /* opened by the caller */
	int table, as_json;             /* table: a line for each item, instead of figures */
};

/* Reads the scores of all items and prints what is asked for. */
int choices_run(struct choices *c, struct positions *in, struct why *w);

#endif
