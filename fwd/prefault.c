/* A thread that walks along the plan's matrices. It reads a byte here and there, which does more for less than asking for whole ranges (Linux's
 * MADV_POPULATE_READ, which looks at every page): a fault maps what the cache has around it. */
#include "prefault.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../lib/grow.h"
#include "pool.h"

enum { AROUND = 1 << 16, PIECE = 8 << 20 };     /* what a fault of Linux maps at most, where pages are small; what a thread lets go of at a time */

struct piece {
	const unsigned char *from, *to;
};

struct prefault {
	struct pool *pool;
	struct piece *piece;    /* [n], in the order of the plan */
	size_t n, room;
	atomic_int enough;
	pthread_t thread;
};

static int add(struct prefault *f, const struct matrix *w)
{
	const unsigned char *from = w->data, *end = from + w->rows * w->row_bytes, *to;

	for (; from < end; from = to) {
		to = end - from > PIECE ? from + PIECE : end;
		if (f->n == f->room && grow(&f->piece, &f->room, sizeof *f->piece, 512))
			return -1;
		f->piece[f->n++] = (struct piece){ from, to };
	}
	return 0;
}

static int add_all(struct prefault *f, const struct plan *p)
{
	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		for (size_t part = 0; op->code == OP_PRODUCT && part < op->product.n_parts; part++)
			if (add(f, &op->product.part[part].w))
				return -1;
	return 0;
}

static void *touch(void *context)
{
	struct prefault *f = context;
	const volatile unsigned char *at;

	for (size_t i = 0; i < f->n; i++)
		for (at = f->piece[i].from; at < f->piece[i].to && !atomic_load(&f->enough); at += AROUND - (uintptr_t)at % AROUND)
			(void)*at;
	return NULL;
}

/* Signals are for the thread that waits for ids; but not those of a file that was cut. */
static int start(struct prefault *f)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&f->thread, NULL, touch, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

struct prefault *prefault_start(const struct plan *p, struct pool *pool)
{
	struct prefault *f;

	if (p->model->bytes / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES) / 2)
		return NULL;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->pool = pool;
	if (!add_all(f, p) && !start(f))
		return f;
	free(f->piece);
	free(f);
	return NULL;
}

#ifdef MADV_DONTNEED
static void let_go(void *context, size_t i, size_t thread)
{
	const struct prefault *f = context;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)f->piece[i].from / page * page;

	/* Those who read what was written last, and have not been given a processor since, go first. */
	sched_yield();
	madvise((void *)from, (uintptr_t)f->piece[i].to - from, MADV_DONTNEED);
}
#else
static void let_go(void *context, size_t i, size_t thread)
{
}
#endif

void prefault_close(struct prefault *f)
{
	if (!f)
		return;
	atomic_store(&f->enough, 1);
	pthread_join(f->thread, NULL);
	pool_run(f->pool, f->n, let_go, f);
	free(f->piece);
	free(f);
}
