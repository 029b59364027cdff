/* pick: a row of logits becomes an id, and ids are written with their log-probabilities. */
#ifndef PICK_H
#define PICK_H

#include <stddef.h>
#include <stdint.h>

#include "generation.h"

/* Reads row `at` of a frame of logits into s->row; `read` of its rows have been read or skipped. 0 or -1. */
int pick_read_row(struct session *s, const struct frame *f, uint32_t at, uint32_t read, struct why *w);

/* Draws the id for pos from s->row, which is overwritten. early: nothing that ends the text may be drawn. 0, or
 * SESSION_FAILED if nothing can be drawn. */
int pick_id(struct session *s, struct generation *g, uint32_t pos, int early, struct sampler_pick *p, struct why *w);

/* How many pairs of an id and its log-probability are written for each drawn id: its own, and those of the best. */
size_t pick_n_logprobs(const struct generation *g);

/* Stores these pairs in to[pick_n_logprobs()]. */
void pick_store_logprobs(const struct generation *g, const struct sampler_pick *p, float (*to)[2]);

/* Writes the pairs of the id at pos, [pick_n_logprobs()]. 0 or -1. */
int pick_write_logprobs(const struct generation *g, float (*logprob)[2], uint32_t pos, struct why *w);

/* Writes id[n], the first for pos, and logprob[n][pick_n_logprobs()]. 0 or -1. */
int pick_write(struct session *s, const struct generation *g, const int32_t *id, float (*logprob)[2], size_t n,
	uint32_t pos, struct why *w);

#endif
