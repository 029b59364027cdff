/* cores: the CPU cores that this process may use, and which of them its threads run on. Where the system does not tell or does not let us choose, which
 * is to say off Linux, what concerns places does nothing. */
#ifndef CORES_H
#define CORES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* Their number (physical ones where the system tells). */
size_t cores_count(void);

/* The number of the CPU that the caller runs on, or -1. */
int cores_here(void);

/* Brings a thread to this CPU, and to no other. */
void cores_call(pthread_t thread, int cpu);

/* Has a thread run only when no other wants its CPU; or like any other again. */
void cores_yield(pthread_t thread, int yields);

/* Lets it run where the thread `like` may, but for the n CPUs in taken[] (-1 for none), or on all of them where that leaves no CPU. */
void cores_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n);

#endif
