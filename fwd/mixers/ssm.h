/* ssm: the sizes that mixers with keys "ssm.*" have. What they mean:
 *
 *	           inner           state              groups      rank
 *	delta net  all values      of keys, values    key heads   value heads
 *	Mamba      channels        of a channel                   of the time step
 *	Mamba 2    all values      of keys            key heads   value heads
 *	PLaMo 2    all values      of keys            1           value heads */
#ifndef SSM_H
#define SSM_H

#include "fwd/model/model.h"

struct ssm {
	size_t taps;                    /* of the convolution of each channel */
	size_t inner, state, groups, rank;
	enum { SSM_NORMS_NONE, SSM_NORMS_BARE, SSM_NORMS_WEIGHTED } norms;     /* of Mamba's dt, B and C */
};

enum { SSM_STATE_MAX = 1 << 12 };       /* no real model comes near it, and products of two sizes do not overflow */

struct ssm *ssm_of(struct model *m);

/* Reads the sizes; groups: the number of key heads, too. Value heads must be of equal size, and the same number of them
 * must read each key head. */
int ssm_read(struct model *m, struct why *w);
int ssm_read_heads(struct model *m, int groups, struct why *w);

#endif
