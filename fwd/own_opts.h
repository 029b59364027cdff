/* own_opts: the options of a single sequence, from its `opts` frame (frame(5)). */
#ifndef OWN_OPTS_H
#define OWN_OPTS_H

#include "fwd/model/model.h"
#include "fwd/state/lora_use.h"

struct own_opts {
	struct lora_use lora[LORA_MAX]; /* fwd's adapters, with the scales that --lora=NAME=SCALE gives */
	const char *kv;                 /* --kv: the segment that the sequence continues; borrowed; NULL: none */
};

/* Reads words[n], each ended by a NUL. -1, with a reason, if a value is invalid, or if an option can only hold for all
 * sequences. */
int own_opts_read(struct own_opts *o, const struct model *m, const char *words, size_t n, struct why *w);

#endif
