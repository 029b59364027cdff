/* A thread that walks along the plan's matrices. It reads a byte here and there, which does more for less than asking for whole ranges (Linux's
 * MADV_POPULATE_READ, which looks at every page): a fault maps what the cache has around it. */
#include "prefault.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "pool.h"

enum { AROUND = 1 << 16, PART = 1 << 25 };      /* what a fault of Linux maps where pages are small; what a thread lets go of at a time */

struct prefault {
	const struct plan *plan;
	struct pool *pool;
	atomic_int enough;
	pthread_t thread;
};

static void touch(struct prefault *f, const struct matrix *w)
{
	const volatile unsigned char *at = w->data, *end = at + w->rows * w->row_bytes;

	for (; at < end && !atomic_load(&f->enough); at += AROUND - (uintptr_t)at % AROUND)
		(void)*at;
}

static void *work(void *context)
{
	struct prefault *f = context;
	const struct plan *p = f->plan;

	for (size_t i = 0; i < p->n_ops; i++)
		for (size_t part = 0; p->op[i].code == OP_PRODUCT && part < p->op[i].product.n_parts; part++)
			touch(f, &p->op[i].product.part[part].w);
	return NULL;
}

/* Whether the cache can be expected to keep what is touched. */
#ifdef _SC_PHYS_PAGES
static int fits(size_t bytes)
{
	return bytes / (size_t)sysconf(_SC_PAGESIZE) <= (size_t)sysconf(_SC_PHYS_PAGES) / 2;
}
#else
static int fits(size_t bytes)
{
	return 0;
}
#endif

struct prefault *prefault_start(const struct plan *p, struct pool *pool)
{
	struct prefault *f;
	sigset_t all, old;
	int error;

	if (!fits(p->model->bytes))
		return NULL;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->plan = p;
	f->pool = pool;
	sigfillset(&all);
	sigdelset(&all, SIGBUS);        /* of a file that was cut: lib/guard */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&f->thread, NULL, work, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!error)
		return f;
	free(f);
	return NULL;
}

static size_t parts(const struct prefault *f)
{
	return f->plan->model->bytes / PART;
}

static void let_go(void *context, size_t part, size_t thread)
{
	const struct prefault *f = context;

	/* First those who read what was written last, if they still wait for a processor. */
	sched_yield();
	gguf_let_go(f->plan->model->gguf, part, parts(f));
}

void prefault_close(struct prefault *f)
{
	if (!f)
		return;
	atomic_store(&f->enough, 1);
	pthread_join(f->thread, NULL);
	pool_run(f->pool, parts(f), let_go, f);
	free(f);
}
