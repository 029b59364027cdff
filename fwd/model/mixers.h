/* mixers: the sizes of the mixers other than attention. */
#ifndef MIXERS_H
#define MIXERS_H

#include "model.h"

/* Reads the sizes of the mixers that the layers have into m->ssm. */
int mixers_read(struct model *m, struct why *w);

/* Sizes of a gated delta net or of Kimi delta attention. values, keys: elements of all heads together; heads, heads_k:
 * number of heads; decays: number of decays in a row. */
struct delta_sizes {
	size_t values, keys, heads, heads_k, decays;
	size_t rank;                    /* of the low-rank products that make decays by key, and gates */
};

struct delta_sizes mixers_delta(const struct model *m, const struct layer *l);

/* Buffer sizes, as floats per row: attention's q, k, v and gates; a delta net's. */
size_t mixers_qkv(const struct layer *l);
size_t mixers_delta_wide(const struct delta_sizes *d);

/* The same for lightning attention. */
size_t mixers_lightning_wide(const struct layer *l);

/* The largest of these over the mixers of a layer: in plan->wide, and in plan->h. */
size_t mixers_wide(const struct model *m, const struct layer *l);
size_t mixers_h(const struct model *m, const struct layer *l);

/* Elements of PLaMo 2's low-rank time steps. */
size_t mixers_plamo2_step(const struct model *m);

/* The largest of RWKV's ranks. */
size_t mixers_rank(const struct ssm *s);

#endif
