/* A thread that walks along the plan's matrices. */
#include "prefault.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef MADV_POPULATE_READ

enum { CHUNK = 4 << 20 };

struct prefault {
	const struct plan *plan;
	atomic_int enough;
	pthread_t thread;
};

static void walk(struct prefault *f, const struct matrix *w, size_t page)
{
	uintptr_t at = (uintptr_t)w->data / page * page, end = (uintptr_t)w->data + w->rows * w->row_bytes;

	for (; at < end && !atomic_load(&f->enough); at += CHUNK)
		if (madvise((void *)at, end - at < CHUNK ? end - at : CHUNK, MADV_POPULATE_READ) < 0)
			atomic_store(&f->enough, 1);
}

static void *work(void *context)
{
	struct prefault *f = context;
	const struct plan *p = f->plan;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < p->n_ops; i++)
		for (size_t part = 0; p->op[i].code == OP_PRODUCT && part < p->op[i].product.n_parts; part++)
			walk(f, &p->op[i].product.part[part].w, page);
	return NULL;
}

struct prefault *prefault_start(const struct plan *p)
{
	struct prefault *f;
	sigset_t all, old;
	int error;

	if (p->model->bytes / (size_t)sysconf(_SC_PAGESIZE) > (size_t)sysconf(_SC_PHYS_PAGES) / 2)
		return NULL;
	f = calloc(1, sizeof *f);
	if (!f)
		return NULL;
	f->plan = p;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&f->thread, NULL, work, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!error)
		return f;
	free(f);
	return NULL;
}

void prefault_enough(struct prefault *f)
{
	if (f)
		atomic_store(&f->enough, 1);
}

void prefault_close(struct prefault *f)
{
	if (!f)
		return;
	prefault_enough(f);
	pthread_join(f->thread, NULL);
	free(f);
}

#else

struct prefault *prefault_start(const struct plan *p)
{
	return NULL;
}

void prefault_enough(struct prefault *f)
{
}

void prefault_close(struct prefault *f)
{
}

#endif
