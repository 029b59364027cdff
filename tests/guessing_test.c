/* guessing_test: the number of guesses on simulated machines, drafts and texts: the time of rounds, which grows with
 * their ids, the time of a guess, and the probability that a guess is right. Decoding must never be more than 3% slower
 * than without guesses, and close to the best fixed number of guesses; less close if a round with one more guess
 * suddenly takes twice as long. */
#include <stdint.h>

#include "gen/loop/guessing.h"
#include "check.h"
#include "random.h"

enum { ROUNDS = 3000 };

struct world {
	double slope, step;             /* cost of a round per guess; extra cost above `wide` guesses */
	size_t wide;
	double guess;                   /* seconds per guess, */
	double missed;                  /* and seconds that each round without guesses adds to the next guesses */
	double right;                   /* probability */
};

static size_t missed;                   /* rounds without guesses before the last round */

/* Seconds of a round with n guesses; a plain round takes one second. */
static double evaluating(const struct world *w, size_t n)
{
	return 1 + w->slope * (double)n + (n > w->wide ? w->step : 0);
}

static double expected(const struct world *w, size_t n)
{
	double chance = 1, ids = 1;

	for (size_t i = 0; i < n; i++)
		ids += chance *= w->right;
	return ids;
}

/* Ids per second with the best fixed number of guesses, at most `most`. */
static double best_rate(const struct world *w, size_t most)
{
	double best = 1, rate;

	for (size_t n = 1; n <= most; n++) {
		rate = expected(w, n) / (evaluating(w, n) + (double)n * w->guess);
		best = rate > best ? rate : best;
	}
	return best;
}

static void round_in(struct guessing *g, const struct world *w, double noise, double *ids, double *seconds)
{
	size_t n = guessing_choose(g), right = 0;
	double making = n ? (double)n * w->guess + (double)missed * w->missed : 0;
	double took = evaluating(w, n) * (1 + noise * (random_unit() - 0.5));

	while (right < n && random_unit() < w->right)
		right++;
	guessing_saw(g, n, right);
	guessing_add(g, n, making, (double)right, took);
	missed = n ? 0 : missed + 1;
	*ids += 1 + (double)right;
	*seconds += making + took;
	if (n > g->most)
		check(0, "%zu guesses, where %zu are allowed", n, g->most);
}

/* close: how close to the rate of the best number of guesses. */
static void try(const struct world *w, size_t most, double noise, double close)
{
	struct guessing g = { .most = most };
	double ids = 0, seconds = 0, rate;

	random_state = 1;
	missed = 0;
	for (size_t i = 0; i < ROUNDS; i++)
		round_in(&g, w, noise, &ids, &seconds);
	rate = ids / seconds;
	check(rate >= 0.97, "slope %g, step %g, guess %g, missed %g, right %g, noise %g: %.3f of plain decoding",
		w->slope, w->step, w->guess, w->missed, w->right, noise, rate);
	check(rate >= close * best_rate(w, most),
		"slope %g, step %g, guess %g, missed %g, right %g, noise %g: %.3f of the best",
		w->slope, w->step, w->guess, w->missed, w->right, noise, rate / best_rate(w, most));
}

/* Guesses that are right for a while, wrong, and right again. */
static void change(double missed_seconds)
{
	struct world w = { .slope = 0.1, .guess = 0.1, .missed = missed_seconds };
	struct guessing g = { .most = 8 };
	double ids[3] = { 0 }, seconds[3] = { 0 };

	random_state = 1;
	missed = 0;
	for (size_t i = 0; i < 3 * ROUNDS; i++) {
		w.right = i / ROUNDS == 1 ? 0.05 : 0.9;
		round_in(&g, &w, 0.1, &ids[i / ROUNDS], &seconds[i / ROUNDS]);
	}
	check(ids[0] > 2 * seconds[0], "%.3f of plain decoding where guesses are right", ids[0] / seconds[0]);
	check(ids[1] > 0.9 * seconds[1], "%.3f of plain decoding where they no longer are", ids[1] / seconds[1]);
	check(ids[2] > 2 * seconds[2], "%.3f of plain decoding where they are again", ids[2] / seconds[2]);
}

int main(void)
{
	static const double slopes[] = { 0, 0.1, 0.3, 1 }, guesses[] = { 1e-6, 0.1, 0.3, 1 },
		rights[] = { 0, 0.2, 0.5, 0.8, 0.95, 1 };

	for (size_t i = 0; i < 4 * 4 * 6; i++)
		for (int noisy = 0; noisy < 2; noisy++) {
			struct world w = { .slope = slopes[i % 4], .guess = guesses[i / 4 % 4], .right = rights[i / 16],
				.wide = GUESSES_MAX };

			try(&w, 8, noisy * 0.2, 0.85);
			w.wide = 3;
			w.step = 1;
			try(&w, 16, noisy * 0.2, 0.65);
			w.missed = w.guess < 0.02 ? w.guess : 0.02;
			try(&w, 16, noisy * 0.2, 0.65);
			w.missed = w.guess < 0.2 ? w.guess : 0.2;
			try(&w, 16, noisy * 0.2, 0);
		}
	change(0);
	change(0.01);
	return check_end("guessing_test");
}
