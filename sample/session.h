/* session: what sample does with each kind of frame. It draws one id for each frame of logits, from its last row. A
 * frame of ids with the flag FRAME_GUESS is answered by a row for each of its ids; then ids are drawn row by row for as
 * long as the drawn id is the guess that follows. */
#ifndef SESSION_H
#define SESSION_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "options.h"

struct session {
	struct sample_options set;
	struct frame_in in;
	struct card card;
	struct token_pieces *pieces;    /* NULL without -m */
	struct constraint *constraint;  /* NULL without a grammar */
	struct trace *trace;            /* NULL without --trace */
	struct sampler *sampler;        /* NULL before the card */
	float *row;                     /* [n_vocab] */
	int32_t *guess;                 /* [n_guess] of the last frame of ids, after its first id; in one block with: */
	int32_t *id;                    /* [1 + n_guess] drawn from one frame of logits */
	float (*logprob)[2];            /* [1 + n_guess][1 + n_best]: ids and log-probabilities */
	size_t n_guess, room;           /* room: bytes of all three */
	uint32_t next;                  /* the position after the last id drawn */
	int64_t drawn;
	uint64_t turn;                  /* from 0 */
	int warned;
	int idle;                       /* between turns */
};

enum { SESSION_USAGE = -2 };

/* Before the first frame, with all of set filled in: opens the model file and the grammar. 0; -1; SESSION_USAGE: an
 * invalid grammar. */
int session_open(struct session *s, struct why *w);
void session_close(struct session *s);

/* The card opens the sampler and is passed on; a later one has to agree. 0; -1; SESSION_USAGE: an option names an id
 * outside its vocabulary. */
int session_card(struct session *s, const struct frame *f, struct why *w);

/* Ids become history; with --turns those of a prompt begin a turn. 0 or -1. */
int session_ids(struct session *s, const struct frame *f, struct why *w);

/* Draws from logits and writes what was drawn. 0 to go on, the enum frame_reason to stop, or -1. */
int session_draw(struct session *s, const struct frame *f, struct why *w);

#endif
