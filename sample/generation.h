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
	struct sampler *sampler;
	struct constraint *constraint;  /* or NULL */
	struct canvas *canvas;          /* or NULL (canvas.h) */
	int32_t last;                   /* the last id of the history */
	int32_t *guess;                 /* [n_guess] of the last frame of ids, after its first id */
	size_t n_guess, room;           /* bytes */
	uint32_t next;                  /* the position after the last id drawn */
	int64_t drawn;
	int idle;                       /* between turns, or over */
};

/* A new generation for sequence number seq, or one that continues the first pos positions of `from`. NULL: out of
 * memory. */
struct generation *generation_open(const struct session *s, uint32_t seq, struct why *w);
struct generation *generation_fork(const struct session *s, const struct generation *from, uint32_t seq, uint32_t pos,
	struct why *w);
void generation_close(struct generation *g);

/* Appends ids to the history; with --turns those of a prompt begin a turn. 0 or -1. */
int generation_ids(struct session *s, struct generation *g, const struct frame *f, struct why *w);

/* Draws from a frame of logits and writes the drawn ids. Returns 0 to continue, an enum frame_reason to stop, -1, or
 * SESSION_FAILED if nothing can be drawn. */
int generation_draw(struct session *s, struct generation *g, const struct frame *f, struct why *w);

/* ---- for canvas.c ---- */

/* Reads row `at` of the frame into s->row; `read` rows have been read already. */
int generation_row(struct session *s, const struct frame *f, uint32_t at, uint32_t read, struct why *w);

/* Draws the id for pos from s->row. early: nothing that ends the text may be drawn. 0 or SESSION_FAILED. */
int generation_pick(struct session *s, struct generation *g, uint32_t pos, int early, struct sampler_pick *p,
	struct why *w);

/* The number of log-probabilities that are written for each id. keep: copies those of a pick to to[]. */
size_t generation_logprobs(const struct session *s);
void generation_keep(const struct session *s, const struct sampler_pick *p, float (*to)[2]);

/* The reason to stop after an id that has been counted in g->drawn, or 0. */
int generation_reason(const struct session *s, const struct generation *g, int32_t id);

/* Writes id[n], the first for pos, and their log-probabilities. */
int generation_write(const struct session *s, const int32_t *id, float (*logprob)[2], size_t n, uint32_t pos,
	uint32_t seq, struct why *w);

#endif
