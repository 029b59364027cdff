/* A thread that walks along the plan's matrices. It reads only some bytes, because a fault also maps the cached pages
 * around it. (madvise() on whole ranges costs more, because the system looks at every page.) */
#include "prefault.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "lib/base/system.h"
#include "lib/base/thread.h"

enum { RELEASE_BYTES = 1 << 25 };       /* bytes that a thread releases at a time */

struct prefault {
	const struct plan *plan;
	atomic_int stopped;
	pthread_t thread;
};

static void touch(struct prefault *f, const struct matrix *w)
{
	const volatile unsigned char *at = w->data, *end = at + w->rows * w->row_bytes;
	const size_t step = system_fault_bytes();

	for (; at < end && !atomic_load(&f->stopped); at += step - (uintptr_t)at % step)
		(void)*at;
}

static void *work(void *context)
{
	struct prefault *f = context;
	const struct plan *p = f->plan;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		for (size_t i = 0; i < op->n_weights; i++)
			touch(f, &op->weights[i]);
	return NULL;
}

/* Size of the weights of the plan's layers. */
static uint64_t weight_bytes(const struct plan *p)
{
	uint64_t bytes = 0;

	for (const struct op *op = p->op; op < p->op + p->n_ops; op++)
		for (size_t i = 0; i < op->n_weights; i++)
			bytes += (uint64_t)op->weights[i].rows * op->weights[i].row_bytes;
	return bytes;
}

struct prefault *prefault_start(const struct plan *p)
{
	struct prefault *f;

	/* whether the page cache is likely to keep what is touched */
	if (weight_bytes(p) > system_memory() / 2)
		return NULL;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->plan = p;
	if (thread_start(&f->thread, work, f) == 0)
		return f;
	free(f);
	return NULL;
}

static size_t release_items(const struct prefault *f)
{
	return f->plan->model->bytes / RELEASE_BYTES;
}

static void release_item(void *context, size_t item, size_t thread)
{
	const struct prefault *f = context;

	/* let a reader of our last output run first */
	sched_yield();
	gguf_let_go(f->plan->model->gguf, item, release_items(f));
}

void prefault_close(struct prefault *f)
{
	if (!f)
		return;
	atomic_store(&f->stopped, 1);
	pthread_join(f->thread, NULL);
	pool_run(f->plan->setup.pool, release_items(f), release_item, f);
	free(f);
}
