/* progress: a line on standard error while a long prompt is evaluated, where that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stddef.h>

#include "lib/stream/frame.h"

/* Waits for the next frame of `in` and shows, from a second after `begin` (on clock_now()'s clock) on, that it is n ids that take so long. The line is gone
 * afterwards. look(context), where there is one, is called five times a second, and after each signal. */
void progress_wait(const struct frame_in *in, double begin, size_t n, void (*look)(void *context), void *context);

#endif
