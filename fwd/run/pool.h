/* pool: a fixed set of threads that share out the pieces of one job after another. Each begins at a place of its own, goes on from there, and then
 * takes what is left of the others' shares, so a thread that the scheduler took away holds up one piece at most. A waiting thread spins briefly, then
 * sleeps. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

#include "lib/base/why.h"

struct pool;

/* Up to n threads, the caller's included; n = 1 starts none. Where the system refuses to start as many, the pool has fewer: pool_threads() says how many.
 * NULL: out of memory. */
struct pool *pool_open(size_t n, struct why *w);
void pool_close(struct pool *p);
size_t pool_threads(const struct pool *p);

/* Runs work(context, piece, thread) for every piece in [0, pieces), thread in [0, n); returns when all are done. What a piece wrote is visible to
 * the caller and to the next job. Called by the thread that opened the pool. */
void pool_run(struct pool *p, size_t pieces, void (*work)(void *context, size_t piece, size_t thread), void *context);

#endif
