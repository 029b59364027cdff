/* generation: how ids are drawn for one sequence: one for each frame of logits, from its last row. A frame of ids with
 * the flag FRAME_GUESS is answered by a row for each of its ids; then ids are drawn row by row for as long as the drawn
 * id is the guess that follows. */
#ifndef GENERATION_H
#define GENERATION_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "session.h"

struct generation {
	struct sequence sequence;
	struct settings *settings;
	struct sampler *sampler;
	struct constraint *constraint;  /* or NULL */
	struct thought thought;         /* with --think-budget */
	struct canvas *canvas;          /* or NULL (canvas.h) */
	int prompted;                   /* ids have come since the canvas was begun */
	int32_t last;                   /* the last id of the history */
	int32_t *guess;                 /* [n_guess] of the last frame of ids, after its first id */
	size_t n_guess, room;           /* bytes */
	int looks;                      /* the guesses are ids of a prompt: for --prompt-logprobs */
	uint32_t next;                  /* the position after the last id drawn */
	int64_t drawn;
	int idle;                       /* between turns, or over */
	int refused;                    /* its options were refused; sequence 0 */
};

/* A new generation for sequence number seq, or one that continues the first pos positions of `from`. NULL: out of
 * memory. */
struct generation *generation_open(struct settings *t, uint32_t seq, struct why *w);
struct generation *generation_fork(const struct generation *from, uint32_t seq, uint32_t pos, struct why *w);
void generation_close(struct generation *g);

/* From now on it draws with these settings, as if all ids so far were a prompt. */
int generation_change(struct generation *g, struct settings *t, struct why *w);

/* Appends ids to the history; with --turns those of a prompt begin a turn. 0 or -1. */
int generation_ids(struct session *s, struct generation *g, const struct frame *f, struct why *w);

/* Draws from a frame of logits and writes the drawn ids. Returns 0 to continue, an enum frame_reason to stop, -1, or
 * SESSION_FAILED if nothing can be drawn. */
int generation_draw(struct session *s, struct generation *g, const struct frame *f, struct why *w);

/* The reason to stop after an id that has been counted in g->drawn, or 0. */
int generation_reason(const struct session *s, const struct generation *g, int32_t id);

#endif
