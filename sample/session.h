/* session: the state of sample for its whole stream, and what it does with each kind of frame. Each sequence has a
 * generation, which begins with its first frame, or with a `fork` as a copy of another's, and is freed at its `end `;
 * that of sequence 0 stays. Frames of a sequence that has ended are dropped. */
#ifndef SESSION_H
#define SESSION_H

#include <stdint.h>

#include "lib/base/bytes.h"
#include "lib/stream/card.h"
#include "lib/stream/sequences.h"
#include "grammars.h"
#include "settings.h"

struct session {
	const struct cli *cli;          /* whose tables the options of sequences are in; set by the caller */
	struct settings line;           /* of the command line; its set is filled in by the caller */
	struct frame_in in;
	struct card card;
	struct token_pieces *pieces;    /* NULL without -m */
	struct grammars grammars;       /* of sequences */
	struct trace *trace;            /* NULL without --trace */
	float *row;                     /* [n_vocab] */
	int32_t *id;                    /* [rows] drawn from one frame of logits; in one block with: */
	float (*logprob)[2];            /* [rows][1 + n_best]: ids and log-probabilities */
	size_t room;                    /* bytes of both */
	struct bytes waiting;           /* frames to be written (output.h) */
	int warned;

	struct sequences sequences;     /* of struct generation */
	uint64_t failed;                /* sequences */
	int cut;                        /* a text has ended where its grammar does not allow an end */
	int asked, answered;            /* there have been ids; and logits, or an `end ` that says why there are none */
	int many;                       /* there have been sequences other than 0 */
	int no_more;                    /* no more sequences will start */
};

enum { SESSION_USAGE = -2, SESSION_FAILED = -3 };

/* Before the first frame: opens the model file and the grammar. 0; -1; SESSION_USAGE: an
 * invalid grammar, or an id outside the model's vocabulary. */
int session_open(struct session *s, struct why *w);
void session_close(struct session *s);

/* The next frame, f. 0; -1; SESSION_USAGE: an option names an id outside the card's vocabulary; SESSION_FAILED: this
 * sequence has failed, the others continue. */
int session_frame(struct session *s, const struct frame *f, struct why *w);

/* At the end of the input: -1 if fwd has answered nothing: it is missing before us or, with a diffusion model, it has
 * never answered a canvas, because the stages are not in a loop. */
int session_check_answered(const struct session *s, struct why *w);

/* Whether the output is complete: the only sequence has ended, or no more start and all have ended. */
int session_is_over(const struct session *s);

#endif
