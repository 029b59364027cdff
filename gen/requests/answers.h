/* answers: the lines of JSON that answer requests for text, in the form of OpenAI's API. They are appended to j->out.
 * See also deltas.h, conversions.h, and envelope.h for what is around them. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "choice.h"
#include "job.h"

/* The job is complete: the whole answer or, with stream, the last line. */
int answers_end(struct job *j, struct why *w);

/* The job cannot be answered, for this reason. server: the request is not at fault; otherwise j->param names the member
 * that is, or is NULL. */
int answers_error(struct job *j, const char *reason, int server, struct why *w);

#endif
