/* responses_input: the conversation of a request to /v1/responses, as the engine reads conversations. */
#ifndef RESPONSES_INPUT_H
#define RESPONSES_INPUT_H

#include "lib/base/json.h"
#include "lib/base/why.h"

/* Writes the members messages, tools, tool_choice and what else decides how the prompt looks. -1: the request is
 * refused; *param is the member that is wrong. */
int responses_input(struct json_writer *to, const struct json *body, const char **param, struct why *w);

#endif
