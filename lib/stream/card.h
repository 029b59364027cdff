/* card: the frame that names a stream's vocabulary and model, so that sample needs no model file and nothing is decoded
 * with the wrong one. */
#ifndef CARD_H
#define CARD_H

#include "frame.h"

/* Payload words (int32): 0-1 fingerprint of the vocabulary (low, high), 2 n_vocab, 3 BOS id or -1, 4-5 fingerprint of
 * the model that made the logits, 0 before fwd, 6 its context or 0, 7 for a diffusion model 1 + mask_id, negative if
 * shifted, otherwise 0, then the end-of-generation ids, ascending. */
struct card {
	uint64_t vocab, model;
	int32_t n_vocab, bos, n_ctx;
	int diffusion;          /* whether the model predicts mask tokens instead of the next token; if so: */
	int32_t mask_id;        /* the mask token */
	int shifted;            /* whether a row's logits are for the next position instead of its own */
	int32_t n_eog, eog[FRAME_EOG_MAX];
};

/* card_read(): reads the payload of a card frame and checks it. card_write(): writes a card. card_append(): appends one
 * to a buffer. */
int card_read(struct frame_in *in, const struct frame *f, struct card *card, struct why *w);
int card_write(int fd, const struct card *card, struct why *w);
int card_append(struct bytes *to, const struct card *card);

/* -1 if two cards disagree: another vocabulary or size, or another model, where 0 is no model. The reason names both
 * sides, as "standard input" and "m.gguf". */
int card_agree(const struct card *a, const char *a_name, const struct card *b, const char *b_name, struct why *w);

/* -1 unless id is in a vocabulary of n_vocab. The reason is to be put after the id's origin: frame_why(), why_in(). */
int card_check_id(int32_t id, int32_t n_vocab, struct why *w);

/* 1 if id ends a generation. */
int card_is_eog(const struct card *card, int32_t id);

#endif
