/* texts: what fwd keeps for each sequence of its stream: the state, and the frame that is being answered. Sequence 0
 * always exists. Any other starts with its first frame, and ends with its `end ` frame or when it fails; later frames
 * of it are skipped. If sequence 0 has the named segment NAME, sequence 7 has NAME.7; otherwise a sequence may have one
 * of its own. */
#ifndef TEXTS_H
#define TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "lib/stream/frame.h"
#include "lib/stream/sequences.h"
#include "fwd/model/model.h"
#include "fwd/state/digest.h"
#include "fwd/state/segment.h"

struct text {
	struct sequence sequence;
	struct segment *state;          /* &own, or sequence 0's, which is borrowed */
	int live;                       /* has sent a frame since it began; sequence 0: since its last `end ` */
	int failed;                     /* sequence 0: its frames are skipped up to its next `end ` */
	int awaited;                    /* was answered and has not sent another frame */

	/* The frame being answered (question.h). Its ids are in the state, above the length until they are
	 * evaluated. */
	size_t end;                     /* position after its last id; the length if there is no such frame */
	size_t ready;                   /* position after the last row that can be evaluated: end or, if hidden states
					 * are read, before the first that is missing */
	uint32_t rows;                  /* of the frame */
	size_t left_out;                /* ids that were cut out of the text before its last (input.h) */
	int sampled;                    /* whether its ids are those of a sampler */
	int every;                      /* logits of every row are wanted */
	uint32_t n_answers, after;      /* rows that are answered, and those after them at the frame's end */
	size_t wanted;                  /* the first position whose logits are wanted */
	size_t first_logits;            /* position of the first row that has logits: 0 or, if the model has an encoder,
					 * that of its text's end */
	size_t changed;                 /* the first position whose row is to be evaluated again with other adapters;
					 * SIZE_MAX: none */
	int asked;                      /* there has been such a frame */
	int kept;                       /* the state is a segment of its own, with whose ids the first ids must begin */
	int echoes;                     /* the frame, of one id, is to be written with the answer */
	int header_written;             /* the header of the answer is written */
	size_t bound;                   /* with --chain: position where the next chain must stop; 0: none */
	struct frame end_frame;         /* its `end ` frame, if that has come already; else kind 0 */
	struct text *next;              /* in a list of the batch (batch.h) */

	/* private */
	struct segment own;
	char *name;                     /* of own; or NULL */
};

struct texts {
	struct segment *first;          /* sequence 0's; borrowed */
	const struct weights *weights;  /* the model's; borrowed */
	const struct model *model;      /* borrowed */
	uint64_t choices;               /* of a state's shape, without adapters */
	struct sequences table;
	size_t n_live, n_awaited;       /* the texts that are */
	uint64_t known;                 /* the digest of the weights, for segments of sequences' own; 0: not known, */
	struct digest *digest;          /* or being computed; or NULL */
};

/* Adds sequence 0, with this state, whose shape.choices without adapters are `choices`. */
int texts_open(struct texts *all, struct segment *first, uint64_t choices, const struct model *model,
	const struct weights *weights, struct why *w);

/* Frees all states but sequence 0's. Returns -1 if one in a file could not be written to disk. */
int texts_close(struct texts *all, struct why *w);

/* NULL if there is no such sequence. */
struct text *texts_find(const struct texts *all, uint32_t number);

/* Starts a sequence with these adapters, NULL: the default ones. Its number must be unused. Returns NULL with a reason
 * on failure. */
struct text *texts_add(struct texts *all, uint32_t number, const struct lora_use use[LORA_MAX], struct why *w);

/* The same with its state in the segment of this name, which no other sequence may have. Not if sequence 0 has a named
 * segment. */
struct text *texts_add_named(struct texts *all, uint32_t number, const struct lora_use use[LORA_MAX],
	const char *name, struct why *w);

/* Whether the ids[n] of its first frame, for positions from pos on, begin with the ids that the sequence kept there. If
 * not, sets the reason. */
int texts_continues(const struct text *t, const int32_t *ids, size_t n, size_t pos, struct why *w);

/* Gives a sequence the scales of other adapters before its first ids: what it shares with the source of a fork is
 * evaluated again. -1, with a reason, if it has had ids, or a named state with other adapters. */
int texts_adapt(struct text *t, const struct lora_use use[LORA_MAX], struct why *w);

/* Records that the sequence has sent a frame of ids, or a fork. */
void texts_begin(struct texts *all, struct text *t);

/* Records that the sequence was answered, and that it has sent another frame since. */
void texts_await(struct texts *all, struct text *t);
void texts_heard(struct texts *all, struct text *t);

/* Ends a sequence, and frees it unless it is sequence 0. Returns -1 if its state could not be written to disk. */
int texts_end(struct texts *all, struct text *t, struct why *w);

/* Number of rows of its frame that can be evaluated; 0 if it has no frame. */
static inline size_t text_left(const struct text *t)
{
	return t->ready - t->state->length;
}

#endif
