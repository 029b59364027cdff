/* progress: a line on standard error while a long prompt is evaluated, where that is a terminal. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "loop.h"

/* A loop's wait(): returns when a frame comes, or when a reader of the loop's output is gone. From a second after
 * the begin of the result on it shows how many tokens take so long; the line is gone afterwards. While
 * l->cancelled() says so, progress_cancel(), if it is set, is called five times a second. */
void progress_wait(struct loop *l);

extern void (*progress_cancel)(void);

#endif
