/* parts: what whole answers and deltas say of a choice. */
#ifndef REQUEST_PARTS_H
#define REQUEST_PARTS_H

#include "lib/base/json.h"
#include "choice.h"

/* Why a choice has ended: a finish_reason of OpenAI's API, or "cancelled". */
const char *parts_finish(const struct choice *c);

/* finish_reason, which is parts_finish() or, before the choice has ended, NULL; and the stop string that ended it. */
void parts_reason(struct json_writer *to, const struct choice *c, const char *finish);

/* Log-probabilities of the ids [first, end), and with echo of those of the prompt. */
void parts_logprobs(struct json_writer *to, const struct choice *c, size_t first, size_t end, int echo);

/* Appends the text of the prompt, which with "echo" precedes that of the choice. */
void parts_echo(const struct choice *c, struct bytes *to);

#endif
