/* display: answers that gen itself prints, as detok writes them: on the terminal of a conversation (show.h), or for ask
 * (alone.h). */
#ifndef DISPLAY_H
#define DISPLAY_H

#include "conversation.h"

/* Starts the stages so that detok's output goes through this program. 0, or -1 with a reason. */
int display_start(struct conversation *v, struct why *w);

/* Opens alone.h for ask: decides where the answer, its reasoning and its calls are printed. */
void display_open_alone(const struct request *q);

/* Shows everything that detok prints, until it reports the end of the answer. 0, or -1 with a reason. */
int display_finish(struct conversation *v, struct why *w);

#endif
