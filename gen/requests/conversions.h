/* conversions: the lines of JSON that answer jobs without a generation: ids of a text, the text of ids, what the
 * template makes of messages, what is known of the model. */
#ifndef REQUEST_CONVERSIONS_H
#define REQUEST_CONVERSIONS_H

#include "job.h"

/* Appends the line to j->out. 0, or -1 with a reason, for which the request is at fault. */
int conversions_answer(struct job *j, const struct model *m, struct why *w);

#endif
