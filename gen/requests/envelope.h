/* envelope: what a line of j->out has around its answer: the id of the job or, in OpenAI's batch form, all that its API
 * has there. */
#ifndef ENVELOPE_H
#define ENVELOPE_H

#include "lib/base/json.h"
#include "job.h"

/* Begins a line, in which members of the answer follow; status: that of HTTP, for the batch form. */
struct json_writer envelope_begin(struct job *j, int status);

/* Writes, for the batch form, the members that come before the choices. */
void envelope_response(const struct job *j, struct json_writer *to);

/* Ends the line. -1, with a reason: it is too long, and has been removed. */
int envelope_end(struct job *j, struct json_writer *to, struct why *w);

#endif
