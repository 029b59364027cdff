/* clock: how much time has passed. */
#ifndef CLOCK_H
#define CLOCK_H

/* Seconds, on a clock that never goes back. */
double clock_now(void);

#endif
