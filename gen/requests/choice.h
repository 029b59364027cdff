/* choice: one of the answers to a request: a sequence of the loop, its text so far, and what it says as a message. */
#ifndef CHOICE_H
#define CHOICE_H

#include "lib/chat/answer/message.h"
#include "gen/loop/loop.h"
#include "job.h"

struct choice {
	struct job *job;
	size_t index;
	const struct model *model;
	const struct prompt *prompt;
	int64_t seed;
	uint32_t sequence;      /* its number; 0: not started */
	int over;
	uint32_t reason;        /* enum frame_reason */

	struct result scored;   /* the log-probabilities of the prompt's ids, with echo */
	struct result r;        /* the drawn ids */
	size_t *at;             /* [r.ids.n] where in the text each of them begins */
	size_t at_room;
	struct bytes text;      /* up to the stop string; what may be part of one is held back */
	size_t length;          /* of the text with what is held back */
	struct stop *stop;
	int found;              /* the number of the stop string that ended it, or -1 */
	int special;

	/* of messages */
	struct answer *answer;  /* or NULL */
	size_t reasoned;        /* ids that are reasoning, with its marks */
	struct message message;
	struct bytes lines;     /* deltas, or the message */

	/* what was told of it, with stream */
	size_t told, told_ids, told_lines;
	int echoed;
};

int choice_open(struct choice *c, struct job *j, size_t index, const struct model *m, const struct defaults *d,
	struct why *w);
void choice_close(struct choice *c);

/* Starts its sequence. */
int choice_start(struct choice *c, struct loop *l, struct why *w);

/* An id was drawn: the calls of struct loop_calls. choice_drawn() returns FRAME_END_STOP where a stop string ends. */
int choice_drawn(struct choice *c, int32_t id, struct why *w);
int choice_logprobs(struct choice *c, uint32_t pos, const float (*pairs)[2], size_t n, struct why *w);

/* The choice is over, for this reason: the text is complete. */
int choice_over(struct choice *c, uint32_t reason, struct why *w);

/* The number of its ids that are answered: not an end of generation, nor what belongs to a stop string alone. */
size_t choice_shown(const struct choice *c);

/* Reads the text that is new as a message: c->lines grows. */
int choice_read(struct choice *c, struct why *w);

#endif
