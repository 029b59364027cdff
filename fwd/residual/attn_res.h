/* attn_res: the hyperparameters of attention residuals (Moonshot 2026). */
#ifndef ATTN_RES_H
#define ATTN_RES_H

#include "fwd/model/model.h"

struct attn_res {
	size_t block_layers;            /* layers of a block */
};

struct attn_res *attn_res_of(struct model *m);

#endif
