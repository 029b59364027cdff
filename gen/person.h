/* person: who talks to the model: the lines of standard input, the prompt where that is a terminal, and ^C. There is one. */
#ifndef PERSON_H
#define PERSON_H

#include <stddef.h>

#include "lib/base/bytes.h"
#include "lib/base/why.h"

struct person {
	const char *first;      /* a turn before those of standard input, or NULL */
	int prompted;           /* a prompt is shown */
	struct bytes lines;     /* private: what was read; */
	size_t from, seen;      /* of it, where the next line begins, and what has no further end of a line */
	int ended;
};

#define PERSON_PROMPT "> "

void person_open(struct person *p, const char *first, int interactive);
void person_close(struct person *p);

/* The next turn, a line that is not blank, without its end and borrowed until the next call: 1; 0 at the end of the input or at the second
 * ^C in a row; -1 with a reason. The model answers from then until the next call. */
int person_turn(struct person *p, const char **text, size_t *n, struct why *w);

/* For the handler of SIGINT where the person is interactive: 1 if it ends an answer at most, 0 if it is the second while the model answers. */
int person_interrupts(void);

/* For the handler of signals that end the program: there is no further turn. */
void person_leaves(void);

/* 1 if there was a ^C since the answer began. */
int person_had_enough(void);

#endif
