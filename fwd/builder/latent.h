/* latent: the hyperparameters of latent attention. */
#ifndef LATENT_H
#define LATENT_H

#include "fwd/model/model.h"

/* Multi-head latent attention (DeepSeek-AI 2024): keys and values of all heads are computed from one latent row of
 * `rank` elements, plus a rotated part of the key that the heads share. `absorbed`: the key and value matrices are
 * applied to queries and results instead, so that the cache holds latent rows only. */
struct latent {
	size_t rank, rank_q;            /* rank_q 0: queries are not low-rank */
	size_t dim_nope, dim_rope, dim_v;       /* elements of a head: unrotated, rotated, of its value */
	int absorbed;
	int shared_normed;              /* the shared part of keys is normed before the rotation */
	int gates_low;                  /* gates are computed from the low-rank queries before their norm */
};

/* Those of the layers without a window, or with one (sliding = 1). */
struct latent *latent_of(struct model *m, int sliding);

/* Reads the keys of latent attention, for all layers that have attention. Newer files store the key matrices transposed
 * (attn_k_b) and the head sizes under separate keys (*_mla): they are `absorbed`. Older files have neither. */
int latent_read(struct model *m, struct why *w);

/* The same for the layers with a window (sliding = 1), or those without, which have keys of their own. `l` has what
 * these keys do not tell. */
int latent_read_some(struct model *m, int sliding, struct latent l, struct why *w);

#endif
