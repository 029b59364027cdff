/* thread: starts threads beside the first. They take no signals from outside, only those of a fault in mapped memory,
 * such as a file that became shorter (lib/base/guard.h). */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <signal.h>

/* 0, or an errno where the system refuses another thread. */
static inline int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
	sigset_t others, old;
	int error;

	sigfillset(&others);
	sigdelset(&others, SIGBUS);
	sigdelset(&others, SIGSEGV);
	pthread_sigmask(SIG_SETMASK, &others, &old);
	error = pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

#endif
