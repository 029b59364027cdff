/* failure: errors in the form of each API, and their kinds. */
#ifndef FAILURE_H
#define FAILURE_H

#include "lib/base/json.h"

enum form { FORM_OPENAI, FORM_RESPONSES, FORM_ANTHROPIC };

struct failure {
	int status;                     /* of HTTP */
	const char *message;
	const char *param;              /* the member of the request that is wrong, or NULL */
};

/* Writes the error as the body of an answer. */
void failure_body(struct json_writer *to, enum form form, const struct failure *f);

/* Writes it as the data of an event, number `events` of the answer; returns the name of the event, or NULL. */
const char *failure_event(struct json_writer *to, enum form form, const struct failure *f, size_t events);

#endif
