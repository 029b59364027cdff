/* loop: the ids that a sampler draws go back to fwd. feed is this loop as a program; gen runs it between
 * its stages, where it stands for `feed` and `tee` at once.
 *
 *	tok | feed FIFO | fwd | sample | tee FIFO | detok
 *
 * The prompt goes from `in` to `out`. Then each frame of ids that comes through `back` goes to `out`, until an end
 * frame, the end of `back`, an id that ends a generation, n ids, or a full context. Every frame of `back` also
 * goes to `copy`. With a draft, guesses are appended to the ids; what fwd has evaluated of rejected guesses is
 * removed at the end by an empty frame. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "result.h"

struct draft;

enum { LOOP_NO_LIMIT = -1, LOOP_TEXTS_MAX = 1000, LOOP_JOBS_MAX = 100000 };

struct loop {                   /* starts as loop_init() leaves it; these are set by the caller: */
	int out, copy;          /* descriptors, -1: none; out is closed at the end */
	struct frame_in in, back;
	int64_t n;              /* ids of a generation, or LOOP_NO_LIMIT */
	size_t jobs;            /* sequences at a time, at most (parallel.h); 0: sequence 0 alone */
	int64_t texts;          /* of these, forks of one prompt and itself; 0: any */
	struct draft *draft;    /* or NULL; borrowed */
	struct result *r;       /* [texts], or NULL */
	int turns;              /* several generations: those that end here get an end frame in the copy */
	int logprobs;           /* the sampler sends the log-probability of each id after it */
	void (*idle)(struct loop *l, int waiting);      /* five times a second before the first id of a generation,
				 * and at last with waiting = 0; or NULL */
	int text;               /* -1, or a descriptor: show() is called when something can be read there */
	void (*show)(struct loop *l);
	int (*cancelled)(void); /* 1: the generation ends before the current id; or NULL */
	int (*make_room)(struct loop *l, struct why *w);        /* the context is full: 1, after loop_move(): the
				 * generation goes on; 0: it ends; -1; or NULL */

	struct card card;       /* read only: the last one that came; n_vocab 0: none has */
	int gone;               /* `out` or `copy` has no reader any more */

	struct ids seq;      /* private: prompt and generated ids; */
	size_t n_prompt;
	uint32_t base;          /* position of seq.id[0], */
	int placed;             /* if it is known */
	uint32_t valid, held;   /* what fwd has evaluated: up to `valid` as it counts, up to `held` with guesses */
	void *payload;          /* [room] bytes of the current frame */
	size_t room;
	uint32_t moved;         /* how many positions the generation has moved back, which its copy does not show */
	int64_t drawn;
	int reason;             /* why the generation ends, if not by an end frame */
	int stale;              /* the sampler may still write of a generation that was ended here */
};

/* Sets the defaults: no descriptors, no limit. loop_close() frees the memory; the descriptors are the caller's. */
void loop_init(struct loop *l);
void loop_close(struct loop *l);

/* Copies the prompt: cards and ids from `in` to `out`, to the end of the input; then starts the draft. -1 with a
 * reason; l->gone says that `out` has no reader. */
int loop_prompt(struct loop *l, struct why *w);

/* In place of loop_prompt(): ids[n] from position pos on, after what stands there. */
int loop_send(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, struct why *w);

/* Waits for the card, before anything was sent. */
int loop_card(struct loop *l, struct why *w);

/* The generation goes on after ids[n], a sequence from position 0 on, of which fwd holds the first `keep`. */
int loop_move(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w);

/* One generation. 1: it is over; 0: `back` has ended, or a reader is gone; -1 with a reason. */
int loop_turn(struct loop *l, struct why *w);

/* The generation, after the prompt; then closes `out`. 0, or -1 with a reason. */
int loop_run(struct loop *l, struct why *w);

/* Copies what still comes through `back`: whoever writes it is not to die of SIGPIPE. With `fwd --chain` that is
 * everything. 0, or -1 with a reason. */
int loop_drain(struct loop *l, struct why *w);

#endif
