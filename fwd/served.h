/* served: the sequences that fwd serves: the state of each, and its frame that is being answered. Sequence 0 always
 * exists; any other starts with its first frame and ends with its `end `, or when it fails; later frames of it are
 * skipped. If sequence 0 has a named segment, NAME, sequence 7 has NAME.7. */
#ifndef SERVED_H
#define SERVED_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/stream/sequences.h"
#include "fwd/state/digest.h"
#include "fwd/state/segment.h"

struct served {
	struct sequence sequence;
	struct segment *state;          /* &own, or sequence 0's, which is borrowed */
	int live;                       /* has sent a frame since it began; sequence 0: since its last `end ` */
	int failed;                     /* sequence 0: its frames are skipped up to its next `end ` */
	int awaited;                    /* was answered and has not sent a frame since */

	/* The frame being answered: its ids are in the state, beyond the length until they are evaluated. */
	size_t end;                     /* position after the last of them; the length where there is no such frame */
	size_t ready;                   /* position after the last row that can be evaluated: end or, where hidden
					 * states are read, before those that have not come */
	uint32_t rows, flags;           /* of the frame */
	int every;                      /* logits of every row are wanted */
	uint32_t answered;              /* rows of the answer */
	int begun;                      /* its header is written */
	struct frame ended;             /* its `end ` frame, which has come already; kind 0: not yet */
	struct served *next;            /* in the queue of those with such a frame */

	/* private */
	struct segment own;
	char *name;                     /* of own; or NULL */
};

struct all_served {
	struct segment *first;          /* sequence 0's; borrowed */
	const struct weights *weights;  /* the model's; borrowed */
	struct sequences table;
	size_t n_live;
};

/* Sequence 0, with this state. */
int served_open(struct all_served *a, struct segment *first, const struct weights *weights, struct why *w);

/* Frees all states but sequence 0's. -1: one in a file could not be written to disk. */
int served_close(struct all_served *a, struct why *w);

/* NULL: no such sequence. */
struct served *served_find(const struct all_served *a, uint32_t number);

/* Starts a sequence, whose number has not been used. NULL with a reason. */
struct served *served_add(struct all_served *a, uint32_t number, struct why *w);

/* Notes that it has sent a frame. */
void served_heard(struct all_served *a, struct served *q);

/* Ends it; frees it unless it is sequence 0. -1: its state could not be written to disk. */
int served_end(struct all_served *a, struct served *q, struct why *w);

/* Rows of its frame that can be evaluated; 0: it has no such frame. */
static inline size_t served_left(const struct served *q)
{
	return q->ready - q->state->length;
}

#endif
