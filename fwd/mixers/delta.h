/* delta: the hyperparameters of gated delta nets and of Kimi delta attention that families set. */
#ifndef DELTA_H
#define DELTA_H

#include "fwd/model/model.h"

struct delta {
	size_t taps;                    /* of the convolutions */
	size_t head_dim;                /* KDA: elements of a head */
	float lower_bound;              /* KDA: lower bound of the logarithm of decays, negative; 0: none */
	int negative;                   /* ssm_a is negative; only with a lower bound */
	float eps;                      /* epsilon of the lengths of q and k; 0: that of the norms */
	int sigmoid_gates;              /* gates are sigmoids, not SiLU */
	size_t decay_rank;              /* rank of the decays of each key element; 0: one decay for each head */
	int tiled;                      /* value head j reads key head j mod groups; else consecutive value heads
					 * share one */
};

struct delta *delta_of(struct model *m);

#endif
