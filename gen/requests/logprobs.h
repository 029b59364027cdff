/* logprobs: the log-probabilities of a choice's ids, from number `first` to `end`, as OpenAI's APIs write them. */
#ifndef LOGPROBS_H
#define LOGPROBS_H

#include "choice.h"

/* Of messages: {"content": [{"token", "logprob", "bytes", "top_logprobs"}]}. */
void logprobs_chat(struct json_writer *to, const struct choice *c, size_t first, size_t end);

/* Of prompts: {"tokens", "token_logprobs", "top_logprobs", "text_offset"}, where offsets count characters from the
 * start of the prompt. prompt: those of the prompt come first; the first id of all has none. */
void logprobs_text(struct json_writer *to, const struct choice *c, size_t first, size_t end, int prompt);

#endif
