/* mixers: the layers' mixers other than attention. */
#ifndef MIXERS_H
#define MIXERS_H

#include "model.h"

/* The sizes of those that some layer has, into m->ssm. */
int mixers_read(struct model *m, struct why *w);

/* Sizes of a gated delta net, or of Kimi delta attention: of all values and of all keys; heads of values and of keys;
 * decays of a row. */
struct delta_sizes {
	size_t values, keys, heads, heads_k, decays;
	size_t rank;                    /* elements that decays by key, and gates, are made of */
};

struct delta_sizes mixers_delta(const struct model *m, const struct layer *l);

/* Elements of a row that attention, with its gates, and such a mixer make at once. */
size_t mixers_qkv(const struct layer *l);
size_t mixers_delta_wide(const struct delta_sizes *d);

/* Elements of a row of lightning attention. */
size_t mixers_lightning_wide(const struct layer *l);

/* Elements of a row that the mixers of a layer make at once: of plan->wide, and of plan->h. */
size_t mixers_wide(const struct model *m, const struct layer *l);
size_t mixers_h(const struct model *m, const struct layer *l);

/* Elements of a row that PLaMo 2 makes time steps from. */
size_t mixers_plamo2_step(const struct model *m);

/* The most of RWKV's ranks. */
size_t mixers_rank(const struct ssm *s);

#endif
