/* answer: reads the text of a model's answer, as it comes, and tells what it says: reasoning, content, calls of tools.
 *
 *	struct answer *a = answer_open(&format, variables, first, &sink, &w);
 *	answer_prompt(a, prompt_end, n);        // what the prompt has of the answer already
 *	answer_read(a, text, n);                // any number of times
 *	answer_end(a);
 *	answer_close(a);
 *
 * It never fails on what a model wrote: what is no call is content. Each part is told as soon as it is certain; all
 * together they are the same however the text is divided. Bytes that are not UTF-8 become U+FFFD, and no part ends
 * inside a character. */
#ifndef ANSWER_H
#define ANSWER_H

#include "format.h"

enum answer_part {              /* more of ... */
	ANSWER_REASONING, ANSWER_CONTENT,
	ANSWER_ARGUMENTS,       /* those of the last call, as JSON text */
	ANSWER_ID               /* no more: all of its id, if the model writes that after the arguments */
};

struct answer_sink {
	void (*tell)(void *context, enum answer_part part, struct span text);
	/* A call begins. id.n is 0: ANSWER_ID follows. */
	void (*call)(void *context, struct span name, struct span id);
	void *context;
};

/* Everything is borrowed. The variables are those of the template: without a tool among them, calls are content. Calls
 * without an id are given one, numbered from `first`. NULL with a reason if memory is short. */
struct answer *answer_open(const struct format *f, const struct json *variables, size_t first,
	const struct answer_sink *sink, struct why *w);

/* The end of the prompt, from the last message on: nothing of it is told. */
int answer_prompt(struct answer *a, const char *s, size_t n);

/* Whether what comes next is reasoning, or ends it. */
int answer_is_reasoning(const struct answer *a);

/* -1: memory is short. */
int answer_read(struct answer *a, const char *s, size_t n);
int answer_end(struct answer *a);

void answer_close(struct answer *a);

#endif
