/* The pool: each piece runs once, what it wrote is visible after the job and to the next job, and jobs finish even if
 * threads outnumber the CPUs. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "fwd/run/pool.h"
#include "check.h"

enum { PIECES = 1000, JOBS = 2000 };

static void holds(int ok, const char *what, size_t n)
{
	check(ok, "%s, with %zu threads", what, n);
}

struct sums {
	uint64_t now[PIECES], before[PIECES];
	unsigned char seen[PIECES];
	size_t threads, bad;
	unsigned delay;
};

/* Reads what two other pieces of the previous job wrote, so the result changes if a job starts too early or a store
 * becomes visible too late. */
static void step(void *context, size_t piece, size_t thread)
{
	struct sums *s = context;

	s->now[piece] = s->before[piece] * 31 + s->before[(piece * 7 + 3) % PIECES] + piece;
	s->seen[piece]++;
	for (volatile unsigned i = 0; i < s->delay; i++)
		;
	if (thread >= s->threads)
		s->seen[piece] = 100;
}

/* The result of JOBS steps. The number of pieces differs from job to job. */
static uint64_t chain(struct pool *p, struct sums *s, unsigned delay)
{
	uint64_t hash = 0;

	*s = (struct sums){ .threads = p ? pool_threads(p) : 1, .delay = delay };
	for (size_t job = 0; job < JOBS; job++) {
		size_t pieces = job % 5 == 0 ? job % 4 : job % 3 ? PIECES / 10 : PIECES;

		if (p)
			pool_run(p, pieces, step, s);
		for (size_t i = p ? pieces : 0; i < PIECES; i++)
			if (i < pieces)
				step(s, i, 0);
			else
				s->now[i] = s->before[i];
		for (size_t i = 0; i < PIECES; i++) {
			s->bad += s->seen[i] != (i < pieces);
			s->seen[i] = 0;
			s->before[i] = s->now[i];
		}
	}
	for (size_t i = 0; i < PIECES; i++)
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
		holds(!sums.bad, "a piece was not done exactly once", counts[i]);
		holds(chain(p, &sums, 200) == want, "with longer pieces the result differs", counts[i]);
		holds(!sums.bad, "a longer piece was not done exactly once", counts[i]);
		for (size_t job = 0; job < 20; job++) {
			sums = (struct sums){ .threads = counts[i] };
			pause_between();
			pool_run(p, PIECES, step, &sums);
			for (size_t k = 0; k < PIECES; k++)
				sums.bad += sums.seen[k] != 1;
		}
		holds(!sums.bad, "after a sleep a piece was not done exactly once", counts[i]);
		pool_close(p);
	}
	for (size_t i = 0; i < 50; i++) {
		struct pool *p = pool_open(4, &w);

		holds(p != NULL, "cannot be opened again", 4);
		pool_close(p);
	}
	return check_end("pool");
}
