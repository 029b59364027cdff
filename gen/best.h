/* best: several continuations of one evaluated prompt, the best of them printed. */
#ifndef BEST_H
#define BEST_H

#include "lib/base/why.h"
#include "loop.h"

enum { BEST_MAX = 1000 };

/* q->best_of texts, with seeds from q's on, one after the other; each goes on from the prompt, which is evaluated once. The best, by its log-probability
 * over the count of its ids to the power of q->penalty, is shown and becomes *r; with q->all they all are shown, the best first. -1: a reason. */
int best(struct loop *l, struct request *q, struct result *r, struct why *w);

#endif
