/* guessing: how many ids to guess in the next round for the most ids a second. A round evaluates one id and the guesses
 * after it. The cost of rounds of each size and of making guesses, and the share of right guesses, are measured from
 * round to round. In total, rounds with guesses take at most a fiftieth longer than plain rounds would have. */
#ifndef GUESSING_H
#define GUESSING_H

#include <stddef.h>

enum { GUESSES_MAX = 64 };      /* in a round */

struct guessing {               /* starts as zeroes, but for `most` */
	size_t most;            /* guesses in a round, from 1 to GUESSES_MAX */

	/* private; seconds are means, weighted towards the latest rounds: */
	size_t rounds[GUESSES_MAX + 1];         /* by their number of guesses */
	double round[GUESSES_MAX + 1];          /* seconds of evaluating an id and this number of guesses */
	size_t since;                           /* rounds since the last one without guesses */
	size_t guessed;                         /* rounds with guesses */
	size_t streak;                          /* of them, those since the last round without */
	size_t streaks;                         /* that began after `guess` was known: weight of catching_up */
	size_t missed;                          /* rounds without, since the last one with guesses */
	double catching_up;                     /* seconds that each of those adds to making the next guesses */
	size_t priced;                          /* rounds with guesses, but for the first of each streak */
	double guess;                           /* seconds of making one guess in those */
	double right, wrong;                    /* numbers of guesses; those after a wrong one do not count */
	double total, lost;                     /* seconds, lately: of all rounds; more than of plain ones */
	double streak_lost;                     /* more than of plain ones: this streak without its first round */
};

/* The number of guesses for the next round; 0: none pays. */
size_t guessing_choose(const struct guessing *g);

/* Records a round: making `made` guesses took `making` seconds, evaluating them `evaluating`; `accepted` were right. */
void guessing_add(struct guessing *g, size_t made, double making, size_t accepted, double evaluating);

#endif
