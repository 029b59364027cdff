/* sampling: the members of requests that all APIs pass to the engine in the same way. */
#ifndef SAMPLING_H
#define SAMPLING_H

#include "lib/base/json.h"

/* Copies them from the body of a request. What else a client sends does not reach the engine. */
void sampling_copy(struct json_writer *to, const struct json *body);

/* The choice of one tool by name. */
void sampling_tool(struct json_writer *to, const char *name);

#endif
