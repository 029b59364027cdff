/* loop: sends the ids that a sampler draws back to fwd. feed is this loop as a program; gen runs it between its stages,
 * in place of both `feed` and `tee`.
 *
 * 	tok | feed FIFO | fwd | sample | tee FIFO | detok
 *
 * The prompt goes from `in` to `out`. Then each frame of ids from `back` goes to `out`, until an end frame, the end of
 * `back`, an id that ends a generation, n ids, or a full context. Every frame of `back` also goes to `copy`. With a
 * draft, guesses are appended to the ids; at the end, an empty frame makes fwd discard rejected guesses. With a
 * diffusion model, canvases go to `out` only, and ids to `copy` only. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "result.h"

struct draft;

enum { LOOP_OUT = 1, LOOP_COPY = 2 };
enum { LOOP_NO_LIMIT = -1, LOOP_TEXTS_MAX = 1000, LOOP_JOBS_MAX = 100000 };

struct loop {                   /* starts as loop_init() leaves it; set by the caller: */
	int out, copy;          /* descriptors, or -1: none; out is closed when the texts are complete */
	struct frame_in in, back;
	int64_t n;              /* maximum ids of a generation, or LOOP_NO_LIMIT */
	size_t jobs;            /* maximum sequences at a time (parallel.h); 0: only sequence 0 */
	int64_t texts;          /* number of sequences that are one prompt and its forks; 0: not forks */
	struct ids kept;        /* what the prompt must begin with; nothing is sent before it has; borrowed */
	const char *kv;         /* the name of these */
	struct draft *draft;    /* or NULL; borrowed */
	struct result *r;       /* [texts], or NULL */
	int turns;              /* several generations: if one ends here, the copy gets an end frame */
	int logprobs;           /* the sampler sends the log-probability of each id after the id */
	void (*idle)(struct loop *l, int waiting);      /* called five times a second before the first id of a
					 * generation, and finally with waiting = 0; or NULL */
	int text;               /* a descriptor, or -1: show() is called when it is readable */
	void (*show)(struct loop *l);
	int (*cancelled)(void); /* returns 1 to end the generation before the current id; or NULL */
	int (*make_room)(struct loop *l, struct why *w);        /* called when the context is full. Returns 1, after
					 * loop_move(), to continue; 0 to end; -1 on error; or NULL */

	struct card card;       /* read only: the last card received; n_vocab 0: none yet */
	size_t full;            /* generations that ended because the context was full */
	int gone;               /* LOOP_OUT, LOOP_COPY: `out` or `copy` has no reader any more; the loop ends */
	int whole;              /* the texts are complete: nothing more was to come */
	int rejected;           /* the loop has ended because of what a stage sent; the failures of others follow */

	struct ids seq;      /* private from here on: prompt and generated ids */
	size_t n_prompt;
	uint32_t base;          /* position of seq.id[0], */
	int placed;             /* if it is known */
	uint32_t valid, held;   /* positions that fwd has evaluated: without and with guesses or masks */
	int canvas;             /* one was sent to fwd in this generation */
	void *payload;          /* [room] bytes of the current frame */
	size_t room;
	uint32_t moved;         /* how far the generation has moved back; its copy does not show that */
	int64_t drawn;
	int reason;             /* why the generation ended, if not by an end frame */
	int stale;              /* the sampler may still send frames of a generation that was ended here */
};

/* Sets the defaults: no descriptors, no limit. loop_close() frees the memory; the caller closes the descriptors. */
void loop_init(struct loop *l);
void loop_close(struct loop *l);

/* Copies the prompt: cards and ids from `in` to `out`, to the end of the input; then starts the draft. Returns -1 with
 * a reason; if l->gone, because `out` has no reader. */
int loop_prompt(struct loop *l, struct why *w);

/* In place of loop_prompt(): sends ids[n] from position pos on, to follow what is before it. */
int loop_send(struct loop *l, const int32_t *ids, size_t n, uint32_t pos, struct why *w);

/* Waits for the card. Call before anything is sent. */
int loop_card(struct loop *l, struct why *w);

/* Call when the context was full: the generation continues after ids[n], from position 0; fwd has the first `keep` of
 * them. */
int loop_move(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w);

/* Runs one generation. Returns 1 when it is over; 0 if `back` has ended or a reader is gone; -1 with a reason. */
int loop_turn(struct loop *l, struct why *w);

/* Runs the generation after the prompt, then closes `out` if it is complete. Returns 0, or -1 with a reason. */
int loop_run(struct loop *l, struct why *w);

/* What is wrong with the sampler: it draws ids without a canvas, for a diffusion model; it sends logits. Return -1. */
int loop_no_canvas(struct loop *l, struct why *w);
int loop_no_ids(struct loop *l, struct why *w);

/* Copies what still comes through `back`, so that its writer does not die of SIGPIPE. Returns 0, or -1 with a
 * reason. */
int loop_drain(struct loop *l, struct why *w);

#endif
