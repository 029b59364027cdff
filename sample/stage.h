/* stage: what sample does with each kind of frame. */
#ifndef STAGE_H
#define STAGE_H

#include <stdint.h>

#include "lib/stream/frame.h"
#include "options.h"

struct stage {
	struct settings set;
	struct frame_in in;
	struct card card;
	struct model *model;            /* NULL without -m */
	struct trace *trace;            /* NULL without --trace */
	struct sampler *sampler;        /* NULL before the card */
	float *row;                     /* [n_vocab] */
	uint32_t next;                  /* the position after the last id drawn */
	int64_t drawn;
	int warned;
	int idle;                       /* between turns */
};

enum { STAGE_USAGE = -2 };

/* Before the first frame, with all of set filled in: the model file, the grammar. 0; -1; STAGE_USAGE: a grammar that is none. */
int stage_open(struct stage *st, struct why *w);
void stage_close(struct stage *st);

/* The card, which is passed on, opens the sampler; a later one has to agree. 0; -1; STAGE_USAGE: an id of the options is outside its vocabulary. */
int stage_card(struct stage *st, const struct frame *f, struct why *w);

/* Ids are history, and with --turns those of a prompt begin a turn. 0 or -1. */
int stage_ids(struct stage *st, const struct frame *f, struct why *w);

/* Logits: draws an id and writes it. 0 to go on, the enum frame_reason to stop, or -1. */
int stage_draw(struct stage *st, const struct frame *f, struct why *w);

#endif
