/* input_frames: what the main loop does with a frame. Functions that can fail return 0, or -1 with a reason. */
#ifndef INPUT_FRAMES_H
#define INPUT_FRAMES_H

#include "input.h"

/* Handles the current frame, or the rest of it. Returns 1 if a batch must be run before the rest. */
int input_take(struct input *in, struct why *w);

/* Handles the end of the input, which ends all texts: they are evaluated for their embeddings. */
int input_end(const struct input *in, struct why *w);

/* A card; or for a stream whose first frame is none, the card that it would have. They write it with the model's
 * fingerprint and context, unless one has been written. */
int input_card(struct input *in, struct why *w);
int input_no_card(struct input *in, struct why *w);

/* A text has ended, but its state could not be written to disk, for the reason in *w. The others continue. */
int input_lose(struct input *in, uint32_t number, struct why *w);

/* Warns, once, if the model was trained for fewer positions than the `end` that a text has. */
void input_check_trained(struct input *in, size_t end);

#endif
