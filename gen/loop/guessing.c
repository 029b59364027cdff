/* Chooses the number of guesses with the most expected ids per second, from running means of measurements. Rounds with
 * guesses come in streaks: the first round of a streak also pays for the ids that the small model has missed. */
#include "guessing.h"

enum {
	PLAIN_FIRST = 4,        /* the first rounds are plain, to measure what a round costs */
	PLAIN_EVERY = 64        /* and so is one of every this many, because the cost grows with the text */
};

#define AT_ONCE 8               /* ids are evaluated in the time of one, until that is measured */
#define LOSS (1.0 / 50)         /* of the time, at most */
#define WEIGHT 0.05             /* of the latest round in a mean of many */
#define MEMORY 0.98             /* what a guess still counts after another one */
#define LATELY 0.998            /* and the time of a round after another one */
#define SLOPE 0.05              /* of a plain round: what one more id costs, at best, until that is measured */

static double max(double a, double b)
{
	return a > b ? a : b;
}

/* Seconds of a round with n guesses: interpolated between measured numbers, or extrapolated from the largest. */
static double round_seconds(const struct guessing *g, size_t n)
{
	size_t below = n, above = n;
	double slope;

	while (!g->rounds[below])
		below--;
	while (above <= GUESSES_MAX && !g->rounds[above])
		above++;
	if (above == below)
		return g->round[n];
	if (above <= GUESSES_MAX)
		slope = (g->round[above] - g->round[below]) / (double)(above - below);
	else
		slope = SLOPE * g->round[0];
	return g->round[below] + slope * (double)(n - below);
}

/* Expected ids of a round with n guesses: 1 plus the number of right guesses, if each is right with the same
 * probability. */
static double expected(const struct guessing *g, size_t n)
{
	double p = (g->right + 2) / (g->right + g->wrong + 3), chance = 1, ids = 1;

	for (size_t i = 0; i < n; i++)
		ids += chance *= p;
	return ids;
}

static double seconds(const struct guessing *g, size_t n)
{
	return round_seconds(g, n) + (double)n * g->guess;
}

/* Seconds that starting a streak will lose. While guesses do not seem to pay, a streak of two rounds with one guess
 * each tests whether that has changed. */
static double lost_to_begin(const struct guessing *g, size_t best)
{
	double catching_up = (g->streaks ? g->catching_up : g->guess / AT_ONCE) * (double)g->missed;

	return g->lost + catching_up + (best ? 0 : 2 * (seconds(g, 1) - seconds(g, 0)));
}

size_t guessing_choose(const struct guessing *g)
{
	size_t best = 0;

	if (g->rounds[0] < PLAIN_FIRST || g->since >= PLAIN_EVERY)
		return 0;
	if (!g->guessed || (g->streak && !g->priced))
		return 1;
	for (size_t n = 1; n <= g->most; n++)
		if (expected(g, n) * seconds(g, best) > expected(g, best) * seconds(g, n))
			best = n;
	/* a streak continues as long as it gains, because only then can it make up for its first round */
	if (g->streak && (g->streak_lost <= 0 || g->lost < LOSS * g->total))
		return g->streak > 1 || best ? best : 1;
	if (g->streak || lost_to_begin(g, best) >= LOSS * max(g->total, (double)g->missed * g->round[0]))
		return 0;
	return best ? best : 1;
}

/* Updates a mean with the n-th value, n from 1. */
static void add(double *mean, double value, size_t n)
{
	double weight = 1 / (double)n;

	*mean += (weight > WEIGHT ? weight : WEIGHT) * (value - *mean);
}

/* At the start of a streak the small model evaluates the ids that it has missed. */
static void add_making(struct guessing *g, size_t made, double making)
{
	g->guessed++;
	if (++g->streak > 1)
		add(&g->guess, making / (double)made, ++g->priced);
	else if (g->priced)
		add(&g->catching_up, (making - (double)made * g->guess) / (double)g->missed, ++g->streaks);
	g->missed = 0;
}

void guessing_saw(struct guessing *g, size_t made, size_t accepted)
{
	for (size_t i = 0; i < accepted; i++)
		g->right = MEMORY * g->right + 1, g->wrong *= MEMORY;
	if (accepted < made)
		g->wrong = MEMORY * g->wrong + 1, g->right *= MEMORY;
}

void guessing_add(struct guessing *g, size_t made, double making, double accepted, double evaluating)
{
	double lost = making + evaluating - (1 + accepted) * g->round[0];

	g->total = LATELY * g->total + making + evaluating;
	g->lost *= LATELY;
	add(&g->round[made], evaluating, ++g->rounds[made]);
	g->since++;
	if (!made) {
		if (g->since <= PLAIN_EVERY)
			g->streak = 0;
		g->since = 0;
		g->missed++;
		return;
	}
	add_making(g, made, making);
	g->streak_lost = g->streak > 1 ? g->streak_lost + lost : 0;
	g->lost = max(g->lost + lost, 0);
}
