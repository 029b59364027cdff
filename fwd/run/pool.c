/* The pieces of a job are cut into a share for each thread, which it takes one after the other, as neighbours lie side by side in memory and what one
 * piece asks for in advance belongs to the next; then it goes on with what is left of the others' shares. The pieces of a share are counted down in an
 * atomic word, its ticket: the high half numbers the job, the low half is how many pieces are not yet taken. Taking one is one compare-and-swap, and the
 * job's number in the word means that a thread which slept through a whole job cannot take a piece of the next by mistake. Whoever holds a piece keeps
 * the job from ending, so what describes the job may be read after taking.
 *
 * Where other processes want the CPUs too, a thread loses its own for turns of the scheduler that are longer than most jobs. So the threads keep apart:
 * a helper that finds itself on the CPU of a thread before it moves elsewhere, as the scheduler, to which two of ours on one CPU and a stranger on the
 * other look even, would leave them. And one that has lost its CPU with a piece in hand gets that of the opener, who waits for it, and is sent away again
 * after the job. (With a stranger on one of two cores 1.4 times one thread's speed; without either of these, 1.0 and less.) */
#include "pool.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cores.h"

/* Looks at a word before sleeping: tens of microseconds, longer than the serial work between two jobs of a step, shorter than a turn of the
 * scheduler by far. A nap, in nanoseconds, between looking after those who are late: as long as a piece or two. */
enum { SPINS = 1000, NAP = 200000, LINE = 64 };

struct helper {
	struct pool *pool;
	size_t index;
	pthread_t id;
	clockid_t clock;        /* of the time it has had on a CPU, */
	struct timespec ran;    /* and what that showed last */
	int called;             /* to the opener's CPU */
	atomic_int apart;       /* kept off the CPUs of those before it */
};

struct share {
	_Alignas(LINE) _Atomic uint64_t ticket;
	atomic_int at_work;     /* whether this thread is among the pieces */
};

struct pool {
	_Alignas(LINE) _Atomic uint64_t job;            /* what those who wait look at: the number of the last one */
	_Alignas(LINE) _Atomic size_t unfinished;       /* pieces of this job that are not known to be done */
	_Alignas(LINE) size_t pieces;
	void (*work)(void *context, size_t piece, size_t thread);
	void *context;

	/* asleep and waiting are written under the lock; each side writes its own word before it reads the other's (sequentially consistent),
	 * so that either the sleeper sees the change or whoever made it sees the sleeper. */
	_Alignas(LINE) atomic_int asleep, waiting, closing;
	pthread_mutex_t lock;
	pthread_cond_t begun, done;
	size_t n;               /* threads, the opener included; fixed once pool_open() has returned */
	struct helper *helper;  /* [n], the first unused */
	struct share *share;    /* [n] */
	pthread_t opener;
	atomic_int *cpu;        /* [n]: where each thread ran last; read by all, seldom written */
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

/* The first piece of share i, and the end of share i - 1. */
static size_t share_start(const struct pool *p, size_t pieces, size_t i)
{
	return pieces / p->n * i + pieces % p->n * i / p->n;
}

/* Takes pieces of share i until none is left, and counts them then: between pieces a thread should wait for no other's cache. */
static void work_share(struct pool *p, size_t i, size_t thread)
{
	_Atomic uint64_t *ticket = &p->share[i].ticket;
	uint64_t t = atomic_load(ticket);
	size_t done = 0;

	while (left(t)) {
		if (!atomic_compare_exchange_weak(ticket, &t, t - 1))
			continue;
		p->work(p->context, share_start(p, p->pieces, i + 1) - left(t), thread);
		done++;
		t = atomic_load(ticket);
	}
	if (done && atomic_fetch_sub(&p->unfinished, done) == done && atomic_load(&p->waiting)) {
		pthread_mutex_lock(&p->lock);
		pthread_cond_signal(&p->done);
		pthread_mutex_unlock(&p->lock);
	}
}

/* Its own share first. */
static void work_along(struct pool *p, size_t thread)
{
	for (size_t i = 0; i < p->n; i++)
		work_share(p, (thread + i) % p->n, thread);
}

/* Notes where this thread runs, for all to see; whether it was elsewhere before. */
static int note_cpu(struct pool *p, size_t thread)
{
	int here = cores_here();

	if (atomic_load(&p->cpu[thread]) == here)
		return 0;
	atomic_store(&p->cpu[thread], here);
	return 1;
}

/* Whether a thread before this one runs on its CPU. */
static int crowded(const struct pool *p, size_t thread)
{
	int here = atomic_load(&p->cpu[thread]), shared = 0;

	for (size_t i = 0; i < thread; i++)
		shared |= here >= 0 && atomic_load(&p->cpu[i]) == here;
	return shared;
}

/* Off the CPUs of those before it. thread: helper i's; asked by itself it may know that before helper[i].id does. */
static void keep_apart(struct pool *p, size_t i, pthread_t thread)
{
	cores_avoid(thread, p->opener, p->cpu, i);
	atomic_store(&p->helper[i].apart, 1);
}

/* The opener has moved, so its old CPU may be free: the scheduler may choose again. (A pipeline's stages wake each other from CPU to CPU.) */
static void let_loose(struct pool *p)
{
	for (size_t i = 1; i < p->n; i++)
		if (atomic_exchange(&p->helper[i].apart, 0))
			cores_avoid(p->helper[i].id, p->opener, NULL, 0);
}

/* Waits for another job than this one; which it is. */
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

/* Whether the job ends while we look. */
static int ends_soon(const struct pool *p)
{
	for (int i = 0; i < SPINS; i++) {
		if (!atomic_load(&p->unfinished))
			return 1;
		relax();
	}
	return 0;
}

/* Whether helper i is among the pieces and has had no time since this was last asked. */
static int stands_still(struct pool *p, size_t i)
{
	struct helper *h = &p->helper[i];
	struct timespec before = h->ran;

	return atomic_load(&p->share[i].at_work) && !clock_gettime(h->clock, &h->ran) && h->ran.tv_sec == before.tv_sec && h->ran.tv_nsec == before.tv_nsec;
}

/* Until the job is done, if it takes no longer. */
static void nap(struct pool *p)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += NAP;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&p->lock);
	atomic_store(&p->waiting, 1);
	while (atomic_load(&p->unfinished) && pthread_cond_timedwait(&p->done, &p->lock, &until) != ETIMEDOUT)
		;
	atomic_store(&p->waiting, 0);
	pthread_mutex_unlock(&p->lock);
}

/* Helpers that stand still get our CPU while we nap. */
static void wait_for_rest(struct pool *p)
{
	if (ends_soon(p))
		return;
	for (size_t i = 1; i < p->n; i++)
		stands_still(p, i);     /* from here on */
	while (!ends_soon(p)) {
		for (size_t i = 1; i < p->n; i++)
			if (stands_still(p, i)) {
				cores_call(p->helper[i].id, cores_here());
				p->helper[i].called = 1;
			}
		nap(p);
	}
	for (size_t i = 1; i < p->n; i++)
		if (p->helper[i].called) {
			keep_apart(p, i, p->helper[i].id);
			p->helper[i].called = 0;
		}
}

static void *help(void *arg)
{
	struct helper *h = arg;
	struct pool *p = h->pool;
	uint64_t job = 0;

	while (!atomic_load(&p->closing)) {
		job = wait_for_job(p, job);
		atomic_store(&p->share[h->index].at_work, 1);
		work_along(p, h->index);
		atomic_store(&p->share[h->index].at_work, 0);
		note_cpu(p, h->index);
		if (crowded(p, h->index))
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

void pool_run(struct pool *p, size_t pieces, void (*work)(void *context, size_t piece, size_t thread), void *context)
{
	uint64_t job;

	if (p->n == 1 || pieces <= 1 || pieces > UINT32_MAX) {
		for (size_t i = 0; i < pieces; i++)
			work(context, i, 0);
		return;
	}
	p->work = work;
	p->context = context;
	p->pieces = pieces;
	atomic_store(&p->unfinished, pieces);
	job = atomic_load(&p->job) + 1;
	for (size_t i = 0; i < p->n; i++)
		atomic_store_explicit(&p->share[i].ticket, job << 32 | (share_start(p, pieces, i + 1) - share_start(p, pieces, i)), memory_order_release);
	atomic_store(&p->job, job);
	if (note_cpu(p, 0))
		let_loose(p);
	wake(p);
	work_along(p, 0);
	wait_for_rest(p);
}

/* Starts helper p->n, which handles no signals. 0 where the system has no more threads for us. */
static int start_helper(struct pool *p)
{
	struct helper *h = &p->helper[p->n];
	sigset_t all, old;
	int error;

	*h = (struct helper){ .pool = p, .index = p->n };
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	sigdelset(&all, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	error = pthread_create(&h->id, NULL, help, h);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (error)
		return 0;
	if (pthread_getcpuclockid(h->id, &h->clock))
		h->clock = CLOCK_MONOTONIC;     /* which always advances */
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
