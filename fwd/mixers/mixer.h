/* mixer: what mixes the positions of a layer in place of attention, or beside it. A mixer is one file of this
 * folder: its hyperparameters, tensors, state, products and op, behind one descriptor. What several of them share is
 * in files of its own: short convolutions (convolution.h), linear attention (linear.h), the keys of state spaces
 * (ssm.h), and what RWKV 6 and 7 have in common (rwkv.h).
 *
 * To add one: write its file, with a struct of its hyperparameters (model_own()), read(), build() and its op
 * (plan/op.h); list it here and in the Makefile; name it in the row of its family. */
#ifndef MIXER_H
#define MIXER_H

#include "fwd/model/family.h"

/* Short convolution; gated delta net; Kimi delta attention; lightning attention; state spaces: Mamba, Mamba 2, and
 * PLaMo 2's, which is Mamba 2 with time steps, keys and queries computed as in Mamba; RWKV 6 and 7; and a product
 * alone, which mixes nothing. */
extern const struct mixer mixer_convolution, mixer_delta, mixer_kda, mixer_lightning, mixer_mamba, mixer_mamba2,
	mixer_plamo2, mixer_rwkv6, mixer_rwkv7, mixer_product;

#endif
