/* clock: elapsed time. */
#ifndef CLOCK_H
#define CLOCK_H

#include <time.h>

/* Seconds, on a clock that never goes back. */
double clock_now(void);

/* The time in ns nanoseconds, below 10^9, for pthread_cond_timedwait(). */
struct timespec clock_in(long ns);

#endif
