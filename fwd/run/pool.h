/* pool: a fixed set of threads that run jobs, one after another. A job is divided into items. Each thread first runs
 * its own share of them, then takes items from the others' shares, so a thread that loses its CPU delays at most one
 * item. A waiting thread spins briefly, then sleeps. */
#ifndef POOL_H
#define POOL_H

#include <stddef.h>

#include "lib/base/why.h"

struct pool;

/* Starts a pool of n threads, including the caller's; n = 1 starts none. If the system refuses, there are fewer:
 * pool_threads() returns the number. NULL: out of memory. */
struct pool *pool_open(size_t n, struct why *w);
void pool_close(struct pool *p);
size_t pool_threads(const struct pool *p);

/* Calls work(context, item, thread) for every item in [0, items), thread in [0, n), and returns when all are done. What
 * an item wrote is visible to the caller and to the next job. To be called by the thread that opened the pool only, and
 * not from an item. */
void pool_run(struct pool *p, size_t items, void (*work)(void *context, size_t item, size_t thread), void *context);

#endif
