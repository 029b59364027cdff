/* cores: how many CPU cores this process may use, and on which CPUs its threads run. On systems other than Linux the
 * functions about single CPUs do nothing. */
#ifndef CORES_H
#define CORES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

/* The number of cores; physical ones if the system tells. */
size_t cores_count(void);

/* The CPU that the caller runs on, or -1. */
int cores_here(void);

/* Pins a thread to this CPU. */
void cores_pin(pthread_t thread, int cpu);

/* yields: the thread runs only when no other wants its CPU. Otherwise: normal scheduling again. */
void cores_yield(pthread_t thread, int yields);

/* Allows the thread the CPUs of the thread `like` except the n CPUs in taken[] (-1: none); all of them if none would be
 * left. */
void cores_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n);

#endif
