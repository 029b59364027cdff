/* loop_ends: what the loop does with a frame at each of its inputs. */
#ifndef LOOP_ENDS_H
#define LOOP_ENDS_H

#include "loop.h"

/* Handles one frame of the prompts, or their end. Returns 0, or -1 with a reason. */
int loop_take_in(struct loop *l, struct why *w);

/* Sends the prompt that waits until a sequence has ended, if that is now. */
int loop_take_held(struct loop *l, struct why *w);

/* Handles one frame from the sampler. Returns 1 if there are no more; 0; or -1 with a reason. */
int loop_take_back(struct loop *l, struct why *w);

#endif
