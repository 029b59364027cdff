/* session: what sample has for its whole stream, and what it does with each kind of frame. Each sequence has a
 * generation of its own, which begins with its first frame, or as a copy of another's with a `fork`, and is freed at
 * its `end `; that of sequence 0 stays. What comes of a sequence that is over is dropped. */
#ifndef SESSION_H
#define SESSION_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "lib/stream/sequences.h"
#include "options.h"

struct session {
	struct sample_options set;
	struct frame_in in;
	struct card card;
	struct token_pieces *pieces;    /* NULL without -m */
	struct constraint *constraint;  /* that of each generation is a copy; NULL without a grammar */
	struct trace *trace;            /* NULL without --trace */
	struct sampler *sampler;        /* the same; NULL before the card */
	float *row;                     /* [n_vocab] */
	int32_t *id;                    /* [rows] drawn from one frame of logits; in one block with: */
	float (*logprob)[2];            /* [rows][1 + n_best]: ids and log-probabilities */
	size_t room;                    /* bytes of both */
	int warned;

	struct sequences sequences;     /* of struct generation */
	uint64_t failed;                /* how many have */
	uint64_t cut;                   /* texts that -n ended where their grammar could not */
	int many;                       /* other sequences than 0 have come; */
	int no_more;                    /* and no more will start */
};

enum { SESSION_USAGE = -2, SESSION_FAILED = -3 };

/* Before the first frame, with all of set filled in: opens the model file and the grammar. 0; -1; SESSION_USAGE: an
 * invalid grammar. */
int session_open(struct session *s, struct why *w);
void session_close(struct session *s);

/* The next frame, f. 0; -1; SESSION_USAGE: an option names an id outside the card's vocabulary; SESSION_FAILED: this
 * sequence ends here, the others go on. */
int session_frame(struct session *s, const struct frame *f, struct why *w);

/* Whether nothing more is to come: of one sequence after its end, of several when all have theirs. */
int session_is_over(const struct session *s);

#endif
