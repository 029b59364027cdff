/* The pool: each item runs once, what it wrote is visible after the job and to the next job, and jobs finish even if
 * threads outnumber the CPUs. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "fwd/run/pool.h"
#include "check.h"

enum { ITEMS = 1000, JOBS = 2000 };

static void holds(int ok, const char *what, size_t n)
{
	check(ok, "%s, with %zu threads", what, n);
}

struct sums {
	uint64_t now[ITEMS], before[ITEMS];
	unsigned char seen[ITEMS];
	size_t threads, bad;
	unsigned delay;
};

/* Reads what two other items of the previous job wrote, so the result changes if a job starts too early or a store
 * becomes visible too late. */
static void step(void *context, size_t item, size_t thread)
{
	struct sums *s = context;

	s->now[item] = s->before[item] * 31 + s->before[(item * 7 + 3) % ITEMS] + item;
	s->seen[item]++;
	for (volatile unsigned i = 0; i < s->delay; i++)
		;
	if (thread >= s->threads)
		s->seen[item] = 100;
}

/* The result of JOBS steps. The number of items differs from job to job. */
static uint64_t chain(struct pool *p, struct sums *s, unsigned delay)
{
	uint64_t hash = 0;

	*s = (struct sums){ .threads = p ? pool_threads(p) : 1, .delay = delay };
	for (size_t job = 0; job < JOBS; job++) {
		size_t items = job % 5 == 0 ? job % 4 : job % 3 ? ITEMS / 10 : ITEMS;

		if (p)
			pool_run(p, items, step, s);
		for (size_t i = p ? items : 0; i < ITEMS; i++)
			if (i < items)
				step(s, i, 0);
			else
				s->now[i] = s->before[i];
		for (size_t i = 0; i < ITEMS; i++) {
			s->bad += s->seen[i] != (i < items);
			s->seen[i] = 0;
			s->before[i] = s->now[i];
		}
	}
	for (size_t i = 0; i < ITEMS; i++)
		hash = hash * 1099511628211u + s->now[i];
	return hash;
}

/* A pause between jobs longer than the spinning lets the helpers fall asleep. */
static void pause_between(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}

int main(void)
{
	static struct sums sums;
	static const size_t counts[] = { 1, 2, 3, 8, 33 };
	uint64_t want = chain(NULL, &sums, 0);
	struct why w;

	for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		struct pool *p = pool_open(counts[i], &w);

		if (!p) {
			check(0, "pool_open: %s", w.text);
			continue;
		}
		holds(pool_threads(p) == counts[i], "pool_threads() is wrong", counts[i]);
		holds(chain(p, &sums, 0) == want, "a chain of jobs has another result than one thread's", counts[i]);
		holds(!sums.bad, "an item was not done exactly once", counts[i]);
		holds(chain(p, &sums, 200) == want, "with longer items the result differs", counts[i]);
		holds(!sums.bad, "a longer item was not done exactly once", counts[i]);
		for (size_t job = 0; job < 20; job++) {
			sums = (struct sums){ .threads = counts[i] };
			pause_between();
			pool_run(p, ITEMS, step, &sums);
			for (size_t k = 0; k < ITEMS; k++)
				sums.bad += sums.seen[k] != 1;
		}
		holds(!sums.bad, "after a sleep an item was not done exactly once", counts[i]);
		pool_close(p);
	}
	for (size_t i = 0; i < 50; i++) {
		struct pool *p = pool_open(4, &w);

		holds(p != NULL, "cannot be opened again", 4);
		pool_close(p);
	}
	return check_end("pool");
}
