/* clock: elapsed time. */
#ifndef CLOCK_H
#define CLOCK_H

/* Seconds, on a clock that never goes back. */
double clock_now(void);

#endif
