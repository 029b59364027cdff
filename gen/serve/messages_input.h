/* messages_input: the conversation of a request to /v1/messages, as the engine reads conversations. */
#ifndef MESSAGES_INPUT_H
#define MESSAGES_INPUT_H

#include "lib/base/json.h"
#include "lib/base/why.h"

/* Writes the members messages, tools, tool_choice and what else decides how the prompt looks. -1: the request is
 * refused; *param is the member that is wrong. */
int messages_input(struct json_writer *to, const struct json *body, const char **param, struct why *w);

#endif
