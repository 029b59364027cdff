/* sequences_test: compares random sequences that start and end with an array of flags; and checks that the ranges of
 * ended numbers stay few if sequences end roughly in order. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/sequences.h"
#include "check.h"
#include "random.h"

enum { NUMBERS = 500, ROUNDS = 40, STEPS = 3000 };
enum { UNKNOWN, ALIVE, OVER };

/* Numbers as far apart as they can be, and dense ones. */
static uint32_t number_of(size_t i, int round)
{
	return round % 3 == 0 ? (uint32_t)i : round % 3 == 1 ? UINT32_MAX - 1 - (uint32_t)i : (uint32_t)i * 8388607u;
}

static void check_all(const struct sequences *t, const unsigned char *is, int round)
{
	struct why w;
	struct sequence **all = sequences_all(t, &w);
	size_t alive = 0, right = 1;

	for (size_t i = 0; i < NUMBERS; i++) {
		struct sequence *s = sequences_find(t, number_of(i, round));

		right &= (s != NULL) == (is[i] == ALIVE) && (!s || s->number == number_of(i, round));
		right &= sequences_is_over(t, number_of(i, round)) == (is[i] == OVER);
		alive += is[i] == ALIVE;
	}
	check_at(right && t->n == alive, "the numbers of round", round);
	for (size_t i = 1; all && i < alive; i++)
		check_at(all[i - 1]->number < all[i]->number, "their order", (long long)i);
	for (size_t i = 1; i < t->n_over; i++)
		check_at(t->over[i].first > t->over[i - 1].last + 1, "ranges that touch", (long long)i);
	free(all);
}

static void play(int round)
{
	static struct sequence room[NUMBERS];
	unsigned char is[NUMBERS] = { 0 };
	struct sequences t = { 0 };
	struct why w;
	size_t alive;

	for (int step = 0; step < STEPS; step++) {
		size_t i = random_below(NUMBERS);

		if (is[i] == UNKNOWN && random_below(4)) {
			check_at(!sequences_add(&t, &room[i], number_of(i, round), &w), "adding", step);
			is[i] = ALIVE;
		} else if (is[i] != ALIVE || !random_below(3)) {
			check_at(!sequences_end(&t, number_of(i, round), &w), "ending", step);
			is[i] = OVER;
		}
		if (step % 100 == 0)
			check_all(&t, is, round);
	}
	check_all(&t, is, round);
	alive = t.n;
	while (sequences_take(&t))
		alive--;
	check_at(alive == 0, "what was live at the end of round", round);
}

int main(void)
{
	static struct sequence live[64];
	struct sequences t = { 0 };
	struct why w;
	size_t most = 0;

	for (int round = 0; round < ROUNDS; round++)
		play(round);
	/* A million, of which 64 live at a time. */
	for (uint32_t k = 1; k <= 1000000; k++) {
		struct sequence *s = &live[k % 64];

		if (k > 64)
			sequences_end(&t, s->number, &w);
		sequences_add(&t, s, k ^ 7, &w);
		most = t.n_over > most ? t.n_over : most;
	}
	check(t.n == 64 && t.room == 64 && most <= 9, "%zu ranges, %zu buckets for %zu", most, t.room, t.n);
	check(sequences_is_over(&t, 9) && !sequences_is_over(&t, 1000000 ^ 7), "over at the end");
	while (sequences_take(&t))
		;
	return check_end("sequences_test");
}
