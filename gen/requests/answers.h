/* answers: the lines of JSON that answer requests, in the form of OpenAI's API without its envelope; lines of its batch
 * form have it. They are appended to j->out. */
#ifndef ANSWERS_H
#define ANSWERS_H

#include "gen/requests/choice.h"
#include "gen/requests/job.h"

/* With stream: a line with what is new of a choice. `last`: with all that is left, and why it ended. -1: out of
 * memory. */
int answers_delta(struct choice *c, int last, struct why *w);

/* The job is complete: the whole answer or, with stream, the last line. */
int answers_end(struct job *j, struct why *w);

/* The job cannot be answered, for this reason. server: the request is not at fault; otherwise j->param names the member
 * that is, or is NULL. */
int answers_error(struct job *j, const char *reason, int server, struct why *w);

/* Answers at once a job that needs no generation. */
int answers_now(struct job *j, const struct model *m, struct why *w);

#endif
