/* guessing: how many ids to guess in the next round, for the most ids per second. A round evaluates one id and the
 * guesses after it; where several sequences have one together, their means count. The cost of rounds of each size, the
 * cost of making guesses, and the share of right guesses are measured round by round. In total, rounds with guesses may
 * take at most 2% longer than plain rounds would have. */
#ifndef GUESSING_H
#define GUESSING_H

#include <stddef.h>

enum { GUESSES_MAX = 64 };      /* in a round */

struct guessing {               /* starts as zeros, except `most` */
	size_t most;            /* most guesses in a round, from 1 to GUESSES_MAX */

	/* private; seconds are means that favour the latest rounds: */
	size_t rounds[GUESSES_MAX + 1];         /* indexed by the number of guesses */
	double round[GUESSES_MAX + 1];          /* seconds of evaluating an id and this number of guesses */
	size_t since;                           /* rounds since the last one without guesses */
	size_t guessed;                         /* rounds with guesses */
	size_t streak;                          /* of these, the ones since the last round without guesses */
	size_t streaks;                         /* streaks begun since `guess` was known: the weight of catching_up */
	size_t missed;                          /* rounds without guesses since the last one with */
	double catching_up;                     /* seconds that each of these adds to making the next guesses */
	size_t priced;                          /* rounds with guesses, except the first of each streak */
	double guess;                           /* seconds per guess in those */
	double right, wrong;                    /* numbers of guesses; those after a wrong one are not counted */
	double total, lost;                     /* recent seconds: of all rounds; beyond the time of plain ones */
	double streak_lost;                     /* beyond the time of plain ones: this streak, without its first
					 * round */
};

/* The number of guesses for the next round; 0 if guessing does not pay. */
size_t guessing_choose(const struct guessing *g);

/* Records how many of the guesses of a sequence were right. */
void guessing_saw(struct guessing *g, size_t made, size_t accepted);

/* Records a round: making `made` guesses took `making` seconds, evaluating them `evaluating`; `accepted` were right. */
void guessing_add(struct guessing *g, size_t made, double making, double accepted, double evaluating);

#endif
