/* live: a sequence of the loop that has not ended: its ids, and what fwd has of them. */
#ifndef LIVE_H
#define LIVE_H

#include "draft.h"
#include "loop.h"
#include "replay.h"

struct live {
	struct sequence sequence;
	struct ids ids;         /* the prompt and what was drawn */
	size_t n_prompt;
	uint32_t base;          /* position of ids.id[0], */
	int placed;             /* if it is known */
	uint32_t valid, held;   /* positions that fwd has evaluated: without and with guesses or masks */
	uint32_t moved;         /* how far the generation has moved back; its copy does not show that */
	int canvas;             /* one was sent to fwd in this generation */
	int64_t drawn, limit;   /* ids; limit: the most, or LOOP_NO_LIMIT */
	int logprobs;           /* the log-probability of each id follows it */
	void *owner;            /* for loop->calls */
	int evaluating;         /* it is over, but fwd still evaluates its prompt */
	int named;              /* its state is in a named segment (release.h) */
	size_t kept;            /* how many of its ids the segment had at the start */
	uint32_t marker;        /* number of the marker while the segment is being released; 0: it is not */
	uint32_t end;           /* why it has ended (enum frame_reason); 0: it has not */
	char *text;             /* [n_text] the reason of a refusal; or NULL */
	size_t n_text;
	uint64_t used;          /* it is in the cache; and the last time that another began with it */
	int fed;                /* its ids were sent to fwd, so an answer will come */
	int reason;             /* why it is about to end here, when all that belongs to its last id has come */
	int over;               /* it has ended; what still comes of it only goes to the copy */
	int stale;              /* the sampler may still send frames of the last generation, which ended here */
	struct guesses guesses;
	struct recorded *recorded;      /* what it is compared with; borrowed; NULL: nothing, or none was drawn yet */
};

/* The live sequence with that number; NULL: there is none. live_begin() starts it; NULL with a reason on failure. */
struct live *live_find(const struct loop *l, uint32_t seq);
struct live *live_begin(struct loop *l, uint32_t seq, struct why *w);

/* *number = one that no sequence has had. -1: there are no more. */
int live_number(struct loop *l, uint32_t *number, struct why *w);

/* Forgets a sequence, whose number is used up, and frees it. Returns -1 if there is no memory. */
int live_end(struct loop *l, struct live *s, struct why *w);
void live_free(struct live *s);

/* Its result, or NULL. */
struct result *live_result(const struct loop *l, uint32_t seq);

/* The position of ids.id[i]; FRAME_APPEND if it is not known. */
uint32_t live_position(const struct live *s, size_t i);

/* The position of one of its frames, given as pos or FRAME_APPEND, whose first `known` ids the sequence has already.
 * The first position that a frame gives also fixes where the sequence starts. */
uint32_t live_place(struct live *s, uint32_t pos, size_t known);

/* Sends ids[n] to fwd; or any frame of it. */
int live_send(struct loop *l, struct live *s, const int32_t *ids, size_t n, uint32_t pos, uint32_t flags,
	struct why *w);
int live_send_frame(struct loop *l, struct live *s, const struct frame *f, const int32_t *ids, struct why *w);

/* Ends the generation here, for this reason, unless it is over already. Sends an `end ` frame to fwd or, if sequence 0
 * has turns, to the copy. Position pos follows its last id. */
int live_stop(struct loop *l, struct live *s, uint32_t reason, uint32_t pos, struct why *w);

/* The same for one of loop->calls, which is told: the sequence is kept in the cache or ended; or released first, if its
 * state is in a named segment. text[n]: the reason of a refusal. */
int live_finish(struct loop *l, struct live *s, uint32_t reason, const char *text, size_t n, struct why *w);

/* Sends its `end ` frame, and forgets it. */
int live_drop(struct loop *l, struct live *s, struct why *w);

/* Marks it as over. Makes fwd discard what it has evaluated of rejected guesses. */
int live_over(struct loop *l, struct live *s, struct why *w);

#endif
