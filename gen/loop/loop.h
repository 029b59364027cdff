/* loop: sends the ids that a sampler draws back to fwd. feed is this loop as a program; gen runs it between its stages,
 * in place of both `feed` and `tee`.
 *
 * 	tok | feed FIFO | fwd | sample | tee FIFO | detok
 *
 * Prompts go from `in` to `out`. Each frame of ids from `back` goes to `out`, until its sequence ends: by an `end `
 * frame, an id that ends a generation, n ids, or a full context. Every frame of `back` also goes to `copy`. With a
 * draft, guesses are appended to the ids; at the end, an empty frame makes fwd discard rejected guesses. With a
 * diffusion model, canvases go to `out` only, and ids to `copy` only. With a replay, all of a recorded text is appended
 * to its first id; the sequence also ends at the first difference from it, and with it.
 *
 * Without `jobs` there is only sequence 0: its prompt is all that comes from `in`, and at its end the loop closes
 * `out`, so that the stages end in turn. With `jobs` there are many, at most `jobs` at a time: the next prompt waits
 * until one ends. A sequence without ids yet does not count, and ends with the prompts; an `end ` frame without a
 * reason after its ids only completes its prompt. With `texts`, the prompt is that of sequence 0, and sequences 1 to
 * texts - 1 start as forks of it, so that it is evaluated only once. An `end ` frame then tells fwd of the end of each,
 * and passes through the stages to the reader of the copy.
 *
 * With `calls` there is no `in`: the caller starts sequences at any time, learns of each id, and can end them. Those
 * that are over stay in fwd as beginnings of others (cache.h); those with named segments are released (release.h).
 * `copy` gets what the caller appends to to_copy.
 *
 * What a pipe does not accept at once waits in a queue, so that a full one does not block the others. */
#ifndef LOOP_H
#define LOOP_H

#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/card.h"
#include "lib/stream/sequences.h"
#include "queue.h"
#include "result.h"

struct draft;
struct replay;
struct loop;

enum { LOOP_OUT = 1, LOOP_COPY = 2 };
enum { LOOP_NO_LIMIT = -1, LOOP_TEXTS_MAX = 1000, LOOP_JOBS_MAX = 100000 };

/* What the loop asks, and tells, who starts sequences. owner: as in struct loop_start. They return -1 with a reason. */
struct loop_calls {
	void *context;
	/* Before each step: may start sequences. Returns 1 to be called again at once; 0. */
	int (*next)(void *context, struct why *w);
	/* An id was drawn. Returns a reason to end the sequence after it, or 0. */
	int (*drawn)(void *owner, int32_t id, struct why *w);
	/* A `logp` payload, of the id at pos: its log-probability, then the most likely ids. */
	int (*logprobs)(void *owner, uint32_t pos, const float (*pairs)[2], size_t n, struct why *w);
	/* The sequence is over; this is the last call. text[n]: the reason of a refusal. */
	int (*over)(void *owner, uint32_t reason, const char *text, size_t n, struct why *w);
};

struct loop {                   /* starts as loop_init() leaves it; set by the caller: */
	int out, copy;          /* descriptors, or -1: none; out is closed when nothing more follows */
	struct frame_in in, back;
	int64_t n;              /* maximum ids of a generation, or LOOP_NO_LIMIT */
	size_t jobs;            /* maximum sequences at a time; 0: only sequence 0 */
	int64_t texts;          /* number of sequences that are one prompt and its forks; 0: not forks */
	struct ids kept;        /* what the prompt must begin with; nothing is sent before it has; borrowed */
	const char *kv;         /* the name of these */
	struct draft *draft;    /* or NULL; borrowed */
	struct replay *replay;  /* or NULL; borrowed; not with a draft */
	struct result *r;       /* [texts], or NULL */
	int turns;              /* sequence 0 has several generations: loop_send() and loop_turn() run one */
	int logprobs;           /* the sampler sends the log-probability of each id after the id */
	void (*idle)(struct loop *l, int waiting);      /* called five times a second before the first id of a
					 * generation, and finally with waiting = 0; or NULL */
	void (*tick)(struct loop *l);   /* called after each step; or NULL */
	int text;               /* a descriptor, or -1: show() is called when it is readable */
	void (*show)(struct loop *l);
	const struct loop_calls *calls; /* or NULL */
	size_t cache;           /* with calls: positions of sequences that are over and stay in fwd */
	int (*cancelled)(void); /* returns 1 to end the generation before the current id; or NULL */
	int (*make_room)(struct loop *l, struct why *w);        /* called when the context is full. Returns 1, after
					 * loop_move(), to continue; 0 to end; -1 on error; or NULL */

	struct card card;       /* read only: the last card received; n_vocab 0: none yet */
	size_t full;            /* generations that ended because the context was full */
	size_t done, drawn;     /* generations that are over, and ids that were drawn */
	int gone;               /* LOOP_OUT, LOOP_COPY: `out` or `copy` has no reader any more; the loop ends */
	struct queue to_out, to_copy;   /* with calls, to_copy.bytes is the caller's to append to */
	int ended;              /* all prompts have been read; with calls, set by the caller */
	size_t active;          /* number of sequences whose ids fwd has, so that an answer will come */
	int whole;              /* the texts are complete: nothing more was to come */
	int rejected;           /* the loop has ended because of what a stage sent; the failures of others follow */

	struct sequences live;  /* private from here on: of struct live */
	int hurried;            /* the next step does not wait */
	uint32_t started;       /* number of the last sequence that loop_start() started, or of a marker */
	size_t releasing;       /* markers that have not come back */
	size_t cached;          /* positions of those that are over and still in fwd */
	uint64_t uses;          /* of these */
	struct frame held;      /* frame of the next prompt, whose payload is still unread in `in`, */
	int waiting;            /* if this is set */
	int forked;             /* the forks have been started */
	int cut;                /* `out` lost its reader before everything was sent */
	int card_due;           /* loop_card() waits for its `end ` frame */
	int drawing;            /* an id of this generation has been drawn, by any sequence */
	void *payload;          /* [room] bytes of the current frame */
	size_t room;
};

/* Sets the defaults: no descriptors, no limit. loop_close() frees the memory; the caller closes the descriptors. */
void loop_init(struct loop *l);
void loop_close(struct loop *l);

/* Runs from the first prompt to the last end, then closes `out`. If there is a copy, it also gets everything that still
 * comes back, so that no writer dies of SIGPIPE. Returns 0, or -1 with a reason. */
int loop_run(struct loop *l, struct why *w);

/* ---- sequences that the caller starts ---- */

struct loop_start {
	const int32_t *ids;     /* [n] the prompt */
	size_t n;
	const char *opts;       /* [n_opts] options of the sequence, as in an `opts` frame; n_opts 0: none */
	size_t n_opts;
	int64_t limit;          /* maximum ids of its generation, or LOOP_NO_LIMIT; 0: one is drawn, but not kept */
	int logprobs;           /* the sampler sends the log-probability of each id after the id */
	int score;              /* and those of the prompt, before the first id */
	int named;              /* its options name a segment that it continues, */
	size_t kept;            /* which has so many of its ids, */
	int replaces;           /* and others after them, which are replaced; */
	int appends;            /* its text ended there, and the other ids are appended */
	void *owner;
};

/* Starts a sequence: from the longest beginning of its ids that fwd has, or else in its segment. *number: its number;
 * *shared: how many ids need no evaluation. */
int loop_start(struct loop *l, const struct loop_start *start, uint32_t *number, size_t *shared, struct why *w);

/* Ends a sequence that is not over, for FRAME_END_INTERRUPT. */
int loop_cancel(struct loop *l, uint32_t number, struct why *w);

/* ---- turns of sequence 0, instead of loop_run() ---- */

/* Waits for the card. Call before anything is sent. */
int loop_card(struct loop *l, struct why *w);

/* Begins a generation after ids[n], from position 0. fwd has the first `keep` of them; the others are sent. */
int loop_send(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w);

/* Runs the generation. If it ends here, the copy gets an `end ` frame. Returns 1 when it is over; 0 if `back` has ended
 * or a reader is gone; -1 with a reason. */
int loop_turn(struct loop *l, struct why *w);

/* Call when the context was full: the generation continues after ids[n], as from loop_send(). */
int loop_move(struct loop *l, const int32_t *ids, size_t n, size_t keep, struct why *w);

#endif
