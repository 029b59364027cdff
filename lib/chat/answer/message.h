/* message: what an answer says, as a message or as deltas of OpenAI's API. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "answer.h"

struct message {
	struct answer_sink sink;        /* for answer_open() */
	int stream;                     /* each part is appended to *out at once, as a delta on a line */
	struct bytes *out;
	size_t n_calls;                 /* read only: calls so far */
	/* private: */
	struct bytes content, reasoning, calls;
	struct bytes id, name, arguments;       /* of the last call */
};

/* Begins a message that is appended to *out, which is borrowed. */
void message_start(struct message *m, int stream, struct bytes *out);

/* The answer is complete: appends the message, on a line, if it was not streamed. Frees what m holds. -1: memory was
 * short. */
int message_end(struct message *m);

#endif
