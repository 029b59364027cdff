/* The items of a job are divided into one share for each thread. A thread works through its own share in order,
 * because neighbouring items are adjacent in memory and each prefetches for the next; then it helps with the other
 * shares. Each share has an atomic word, its ticket: the high half is the number of the job, the low half counts the
 * items not yet taken. A thread takes an item by one compare-and-swap, and because of the job's number a thread that
 * slept through a whole job cannot take an item of the next one by mistake. A job cannot end while a thread holds one
 * of its items, so the description of the job may be read after taking.
 *
 * When other processes compete for the CPUs, a thread can lose its CPU for a time slice, which is longer than most
 * jobs. Two measures help. Threads keep apart: a helper that finds itself on the same CPU as an earlier thread moves to
 * another, which the scheduler would not do, as to it two of our threads on one CPU and a foreign process on the other
 * are balanced. And a starved helper, one that has lost its CPU while it holds an item, gets the CPU of the opener,
 * which is waiting for it; after the job it is moved away again. (With a foreign process on one of two cores this gives
 * 1.4 times the speed of one thread; without either measure, 1.0 or less.) */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/system.h"
#include "lib/base/thread.h"

/* SPINS: polls of a word before sleeping; tens of microseconds, longer than the serial work between two jobs of a step
 * and much shorter than a time slice. NAP: nanoseconds between two checks for starved helpers; as long as an item or
 * two. */
enum { SPINS = 1000, NAP = 200000, LINE = 64 };

struct helper {
	struct pool *pool;
	size_t index;
	pthread_t id;
	struct timespec ran;    /* its CPU time when last asked for */
	int pinned;             /* to the opener's CPU */
	atomic_int apart;       /* kept off the CPUs of earlier threads */
};

struct share {
	_Alignas(LINE) _Atomic uint64_t ticket;
	atomic_int busy;        /* this thread is running a job */
};

struct pool {
	_Alignas(LINE) _Atomic uint64_t job;            /* the number of the last one; helpers poll it */
	_Alignas(LINE) _Atomic size_t unfinished;       /* items of this job not yet reported as done */
	_Alignas(LINE) size_t items;
	void (*work)(void *context, size_t item, size_t thread);
	void *context;

	/* asleep and waiting are written under the lock. Each side writes its own word before it reads the other's
	 * (sequentially consistent), so either the sleeper sees the change, or the thread that made it sees the
	 * sleeper. */
	_Alignas(LINE) atomic_int asleep, waiting, closing;
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	size_t n;               /* threads, the opener included; fixed once pool_open() has returned */
	struct helper *helper;  /* [n], the first unused */
	struct share *share;    /* [n] */
	pthread_t opener;
	atomic_int *cpu;        /* [n]: the CPU each thread ran on last; read by all, rarely written */
};

#if defined(__x86_64__)
static void relax(void)
{
	__builtin_ia32_pause();
}
#elif defined(__aarch64__)
static void relax(void)
{
	__asm__ volatile("isb" ::: "memory");
}
#else
static void relax(void)
{
}
#endif

static uint32_t left(uint64_t ticket)
{
	return (uint32_t)ticket;
}

/* The first item of share i, and the end of share i - 1. */
static size_t share_start(const struct pool *p, size_t items, size_t i)
{
	return items / p->n * i + items % p->n * i / p->n;
}

/* Runs items of share i until none is left. Reports them together, so that no cache line is shared between items. */
static void work_share(struct pool *p, size_t i, size_t thread)
{
	_Atomic uint64_t *ticket = &p->share[i].ticket;
	uint64_t t = atomic_load(ticket);
	size_t done = 0;

	while (left(t)) {
		if (!atomic_compare_exchange_weak(ticket, &t, t - 1))
			continue;
		p->work(p->context, share_start(p, p->items, i + 1) - left(t), thread);
		done++;
		t = atomic_load(ticket);
	}
	if (done && atomic_fetch_sub(&p->unfinished, done) == done && atomic_load(&p->waiting)) {
		pthread_mutex_lock(&p->lock);
		pthread_cond_signal(&p->done);
		pthread_mutex_unlock(&p->lock);
	}
}

/* All shares, the thread's own first. */
static void work_all(struct pool *p, size_t thread)
{
	for (size_t i = 0; i < p->n; i++)
		work_share(p, (thread + i) % p->n, thread);
}

/* Publishes the CPU this thread runs on; returns whether it has changed. */
static int note_cpu(struct pool *p, size_t thread)
{
	int here = system_cpu();

	if (atomic_load(&p->cpu[thread]) == here)
		return 0;
	atomic_store(&p->cpu[thread], here);
	return 1;
}

/* Whether an earlier thread runs on the same CPU. */
static int shares_cpu(const struct pool *p, size_t thread)
{
	int here = atomic_load(&p->cpu[thread]), shared = 0;

	for (size_t i = 0; i < thread; i++)
		shared |= here >= 0 && atomic_load(&p->cpu[i]) == here;
	return shared;
}

/* Moves helper i off the CPUs of earlier threads. thread is its id, which the helper itself may know before
 * helper[i].id is set. */
static void keep_apart(struct pool *p, size_t i, pthread_t thread)
{
	system_avoid(thread, p->opener, p->cpu, i);
	atomic_store(&p->helper[i].apart, 1);
}

/* The opener has moved, so its old CPU may be free: allow all CPUs again. (The stages of a pipeline wake each other and
 * move often.) */
static void allow_all_cpus(struct pool *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (atomic_exchange(&p->helper[i].apart, 0))
			system_avoid(p->helper[i].id, p->opener, NULL, 0);
}

/* Waits for a job other than this one, and returns its number. */
static uint64_t wait_for_job(struct pool *p, uint64_t last)
{
	for (int i = 0; i < SPINS; i++) {
		if (atomic_load(&p->job) != last || atomic_load(&p->closing))
			return atomic_load(&p->job);
		relax();
	}
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->asleep, 1);
	while (atomic_load(&p->job) == last && !atomic_load(&p->closing))
		pthread_cond_wait(&p->begun, &p->lock);
	atomic_fetch_sub(&p->asleep, 1);
	pthread_mutex_unlock(&p->lock);
	return atomic_load(&p->job);
}

/* Whether the job ends while we spin. */
static int ends_soon(const struct pool *p)
{
	for (int i = 0; i < SPINS; i++) {
		if (!atomic_load(&p->unfinished))
			return 1;
		relax();
	}
	return 0;
}

/* Whether helper i is running a job but its CPU clock has not advanced since the last call. */
static int starved(struct pool *p, size_t i)
{
	struct helper *h = &p->helper[i];
	struct timespec before = h->ran;

	return atomic_load(&p->share[i].busy) && !system_thread_time(h->id, &h->ran)
		&& h->ran.tv_sec == before.tv_sec && h->ran.tv_nsec == before.tv_nsec;
}

/* Sleeps for NAP, or until the job is done. */
static void nap(struct pool *p)
{
	struct timespec until = clock_in(NAP);

	pthread_mutex_lock(&p->lock);
	atomic_store(&p->waiting, 1);
	while (atomic_load(&p->unfinished) && pthread_cond_timedwait(&p->done, &p->lock, &until) != ETIMEDOUT)
		;
	atomic_store(&p->waiting, 0);
	pthread_mutex_unlock(&p->lock);
}

/* Waits for the end of the job. Starved helpers get our CPU while we sleep. */
static void wait_for_rest(struct pool *p)
{
	if (ends_soon(p))
		return;
	for (size_t i = 1; i < p->n; i++)
		starved(p, i);          /* starts the interval */
	while (!ends_soon(p)) {
		for (size_t i = 1; i < p->n; i++)
			if (starved(p, i)) {
				system_pin(p->helper[i].id, system_cpu());
				p->helper[i].pinned = 1;
			}
		nap(p);
	}
	for (size_t i = 1; i < p->n; i++)
		if (p->helper[i].pinned) {
			keep_apart(p, i, p->helper[i].id);
			p->helper[i].pinned = 0;
		}
}

static void *help(void *arg)
{
	struct helper *h = arg;
	struct pool *p = h->pool;
	uint64_t job = 0;

	while (!atomic_load(&p->closing)) {
		job = wait_for_job(p, job);
		atomic_store(&p->share[h->index].busy, 1);
		work_all(p, h->index);
		atomic_store(&p->share[h->index].busy, 0);
		note_cpu(p, h->index);
		if (shares_cpu(p, h->index))
			keep_apart(p, h->index, pthread_self());
	}
	return NULL;
}

static void wake(struct pool *p)
{
	if (!atomic_load(&p->asleep))
		return;
	pthread_mutex_lock(&p->lock);
	pthread_cond_broadcast(&p->begun);
	pthread_mutex_unlock(&p->lock);
}

void pool_run(struct pool *p, size_t items, void (*work)(void *context, size_t item, size_t thread), void *context)
{
	uint64_t job;

	if (p->n == 1 || items <= 1 || items > UINT32_MAX) {
		for (size_t i = 0; i < items; i++)
			work(context, i, 0);
		return;
	}
	p->work = work;
	p->context = context;
	p->items = items;
	atomic_store(&p->unfinished, items);
	job = atomic_load(&p->job) + 1;
	for (size_t i = 0; i < p->n; i++)
		atomic_store_explicit(&p->share[i].ticket,
			job << 32 | (share_start(p, items, i + 1) - share_start(p, items, i)), memory_order_release);
	atomic_store(&p->job, job);
	if (note_cpu(p, 0))
		allow_all_cpus(p);
	wake(p);
	work_all(p, 0);
	wait_for_rest(p);
}

/* Starts helper p->n. 0 if the system refuses another thread. */
static int start_helper(struct pool *p)
{
	struct helper *h = &p->helper[p->n];

	*h = (struct helper){ .pool = p, .index = p->n };
	if (thread_start(&h->id, help, h))
		return 0;
	p->n++;
	return 1;
}

struct pool *pool_open(size_t n, struct why *w)
{
	struct pool *p;

	if (posix_memalign((void **)&p, LINE, sizeof *p)) {
		why(w, "thread pool: out of memory");
		return NULL;
	}
	memset(p, 0, sizeof *p);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->begun, NULL);
	pthread_cond_init(&p->done, NULL);
	p->n = 1;
	p->opener = pthread_self();
	p->helper = calloc(n, sizeof *p->helper);
	p->cpu = calloc(n, sizeof *p->cpu);
	if (!p->helper || !p->cpu || posix_memalign((void **)&p->share, LINE, n * sizeof *p->share)) {
		why(w, "thread pool: out of memory");
		pool_close(p);
		return NULL;
	}
	memset(p->share, 0, n * sizeof *p->share);
	for (size_t i = 0; i < n; i++)
		atomic_init(&p->cpu[i], -1);
	while (p->n < n && start_helper(p))
		;
	return p;
}

void pool_close(struct pool *p)
{
	if (!p)
		return;
	atomic_store(&p->closing, 1);
	wake(p);
	for (size_t i = 1; i < p->n; i++)
		pthread_join(p->helper[i].id, NULL);
	pthread_cond_destroy(&p->done);
	pthread_cond_destroy(&p->begun);
	pthread_mutex_destroy(&p->lock);
	free(p->helper);
	free(p->cpu);
	free(p->share);
	free(p);
}

size_t pool_threads(const struct pool *p)
{
	return p->n;
}
