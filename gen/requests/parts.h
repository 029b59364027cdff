/* parts: what all lines of answers have, and what whole answers and deltas say of a choice in the same way. */
#ifndef REQUEST_PARTS_H
#define REQUEST_PARTS_H

#include "gen/requests/choice.h"
#include "gen/requests/job.h"
#include "lib/base/json.h"

/* Begins a line of j->out with the job's id, and ends it. -1: out of memory. */
struct json_writer parts_begin(struct job *j);
int parts_end(struct job *j, struct json_writer *to, struct why *w);

/* Why a choice has ended, in the words of OpenAI's API. */
const char *parts_word(const struct choice *c);

/* finish_reason, which is this word (NULL: it has not ended), and the stop string, if one ended it. */
void parts_reason(struct json_writer *to, const struct choice *c, const char *word);

/* Log-probabilities of the ids from number `first` to `end`, and with echo of those of the prompt. */
void parts_logprobs(struct json_writer *to, const struct choice *c, size_t first, size_t end, int echo);

/* Appends the text of the prompt, which with echo is before that of the choice. */
void parts_echo(const struct choice *c, struct bytes *to);

#endif
