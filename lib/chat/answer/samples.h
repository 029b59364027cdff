/* samples: turns of a conversation as a template renders them, with unmistakable words in them. */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "lib/chat/chat.h"
#include "pattern.h"

#define SAMPLE_CONTENT "Zqcontent"
#define SAMPLE_REASON "Zqreason"
#define SAMPLE_NAME "zqname"    /* and the number of the call, from 1; so, too, */
#define SAMPLE_ID "zqid0000"    /* with its number the nine characters that Mistral's templates want; */
#define SAMPLE_KEY "zqkey"      /* and the number of the argument in the turn; so, too, */
#define SAMPLE_VALUE "Zqvalue"
#define SAMPLE_INT "7654321"

enum sample {
	SAMPLE_PROMPT,          /* the start of the answer */
	SAMPLE_TEXT,            /* content */
	SAMPLE_THOUGHT,         /* reasoning, content */
	SAMPLE_THOUGHT_CALL,    /* reasoning, a call */
	SAMPLE_TEXT_CALL,       /* content, a call */
	SAMPLE_CALL,            /* a call with one argument, a string */
	SAMPLE_ARGUMENTS,       /* a call with two arguments, strings */
	SAMPLE_CALLS,           /* two calls with an argument each */
	SAMPLE_NUMBER_CALL,     /* a call with an argument that is a number, */
	SAMPLE_LIST_CALL,       /* a list of a string, */
	SAMPLE_RAW_CALL,        /* a string with markup: <VALUE */
	SAMPLES
};

/* Renders all samples for the conversation's variables. text[i] lies in the arena; it has no s if the template refuses
 * the sample or does not show its words, or if there is none (t NULL). Returns -1 if memory is short. */
int samples_render(const struct chat *c, const struct jinja *t, const struct jinja_options *o, struct arena *a,
	struct span text[SAMPLES], struct why *w);

/* The first or last place of a word in the text, or NULL. */
const char *samples_find(struct span text, const char *word);
const char *samples_find_last(struct span text, const char *word);

#endif
