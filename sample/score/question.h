/* question: what a line of JSON asks: how a text begins, what may follow, and which of that is right. The line is
 *
 *	{"context": "The sky is", "choices": [" blue.", " loud."], "answer": 0}
 *	{"context": "It does not fit, the ", "choices": ["cup", "bag"], "after": " is too big.", "answer": 0}
 *
 * or a record of HellaSwag ("endings"), WinoGrande ("option1") or ARC ("question"), as their authors or Hugging Face
 * publish them; their texts are those that lm-evaluation-harness makes of them. */
#ifndef QUESTION_H
#define QUESTION_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/json.h"
#include "lib/base/why.h"

enum { QUESTION_CHOICES = 1024 };       /* at most */

struct question {
	const char *context, *after;    /* after: what follows each choice; NULL: nothing */
	const char **choice;            /* [n] */
	size_t n;
	int64_t answer;                 /* -1: not given */
};

/* The texts lie in the arena or the line. -1 with a reason. */
int question_read(struct question *q, struct arena *a, const struct json *line, struct why *w);

#endif
