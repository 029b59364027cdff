/* guessing: how many ids to guess in the next round, so that the ids of a second become as many as possible. A round
 * evaluates one id and the guesses after it. What rounds of each size, guesses, and wrong guesses cost is measured as
 * they come. The rounds with guesses, all together, take at most a fiftieth longer than plain rounds would have. */
#ifndef GUESSING_H
#define GUESSING_H

#include <stddef.h>

enum { GUESSES_MAX = 64 };      /* in a round */

struct guessing {               /* starts as zeroes, but for `most` */
	size_t most;            /* guesses in a round, from 1 to GUESSES_MAX */

	/* private; seconds are means, of late rounds above all: */
	size_t rounds[GUESSES_MAX + 1];         /* with so many guesses */
	double round[GUESSES_MAX + 1];          /* seconds of evaluating one id and so many guesses */
	size_t since;                           /* rounds since the last one without guesses */
	size_t guessed;                         /* rounds with guesses */
	double guess;                           /* seconds of making one guess */
	double right, wrong;                    /* guesses; of those after a wrong one nothing is known */
	double total, lost;                     /* seconds, lately: of all rounds; more than of plain ones */
};

/* For the next round; 0: none pays. */
size_t guessing_choose(const struct guessing *g);

/* A round is over. `made` guesses took `making` seconds, their evaluation `evaluating`, and `accepted` were right. */
void guessing_add(struct guessing *g, size_t made, double making, size_t accepted, double evaluating);

#endif
