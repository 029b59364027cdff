/* encoder: the hyperparameters of an encoder. */
#ifndef ENCODER_H
#define ENCODER_H

#include "model.h"

/* An encoder before the decoder (Raffel et al. 2020). The ids up to the first `end` are the encoder's text; each of its
 * rows sees all of it. The decoder's first row is at the text's last position, where it reads `start` in place of
 * `end`; its cross-attention sees the encoder's result. Scores get biases by distance in both stacks, one for each
 * range of distances (a bucket). */
enum { BUCKETS_MAX = 128 };

struct encoder {
	size_t n_layer;                 /* 0: no encoder */
	size_t start, end;              /* ids */
	size_t buckets;
};

struct encoder *encoder_of(struct model *m);

/* Reads the keys of an encoder and of the decoder after it. The layers read so far are the encoder's; those of the
 * decoder, which may differ in number, take their place, each like the first. */
int encoder_read(struct model *m, struct why *w);

#endif
