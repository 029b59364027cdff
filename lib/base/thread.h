/* thread: starts additional threads. They block all signals except those of faults in mapped memory, such as a file
 * that was truncated (lib/base/guard.h). */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <signal.h>

/* Returns 0, or an errno if the system refuses another thread. */
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
