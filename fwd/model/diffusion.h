/* diffusion: what is particular to a diffusion model, which fills in mask tokens. */
#ifndef DIFFUSION_H
#define DIFFUSION_H

#include "model.h"

struct diffusion {
	int on;                         /* the model is one */
	int shifted;                    /* as in struct card, as is mask_id */
	int32_t mask_id;
};

struct diffusion *diffusion_of(struct model *m);

/* Reads the mask token if the family is one of diffusion models. Call when the vocabulary is known. */
int diffusion_read(struct model *m, struct why *w);

#endif
