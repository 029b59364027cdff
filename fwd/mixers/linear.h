/* linear: linear attention, which several mixers are made of. */
#ifndef LINEAR_H
#define LINEAR_H

#include "fwd/builder/build.h"

/* Linear attention: attention without softmax (Katharopoulos et al. 2020). Each head has a state M[dim_k][dim_v],
 * initially zero. Within a chunk of STATE_CHUNK positions, G_t is the sum of the log decays of its rows up to t, and M
 * the state at the chunk's start:
 *   r_t = e^G_t · (k_t M) + the sum of e^(G_t − G_s) (k_s · k_t) d_s over s < t;    d_t = beta_t (v_t − r_t)
 *   out_t = e^G_t · (q_t M) + the sum of e^(G_t − G_s) (k_s · q_t) d_s over s <= t, + skip · v_t
 * At the chunk's end, where G is that of its last row, M = e^G M + the sum of k_s ⊗ e^(G − G_s) d_s. This is the gated
 * delta rule (Yang et al. 2024), chunk by chunk; without `delta`, d_t = beta_t v_t (Mamba 2; Dao and Gu 2024). With
 * by_key, G and e^G are vectors over the key's elements. Sums over keys and rows are chains of fma, ascending, so that
 * a row has the same bits in any batch.
 *
 * There are three ops. gates: norms q and k, and computes beta = sigmoid(beta), decay = a · softplus(decay + bias);
 * without `delta`, beta = softplus(decay + bias), decay = a · beta; with a lower bound, decay = lower_bound · sigmoid(a
 * · (decay + bias)). linear: computes d and out. keep: stores rows for later batches. */
struct op_linear {
	size_t n_head, n_head_k;        /* of v; of k and q */
	int consecutive;                /* consecutive heads share a key head; else head j uses key head j mod
					 * n_head_k */
	size_t dim_k, dim_v;
	int delta;
	int by_key;                     /* a decay for each key element: Kimi delta attention (Moonshot 2025) */
	int constant;                   /* decay = a, beta = 1: lightning attention (Qin et al. 2024) */
	struct norm q_norm, k_norm;     /* of a head */
	float lower_bound;              /* of log decays, negative; 0: none */
	const float *bias, *a, *skip;   /* bias: like decay, or NULL; skip: [n_head], or NULL */
	struct buffer q, k, v, decay, beta;     /* of all heads; beta: [n_head]; decay: [n_head], by_key: times dim_k */
	struct buffer d, out;           /* like v; d may be v; without skip, or without delta, out may be v */
	size_t ring_k, ring_d, ring_g, state;   /* offsets in the segment: rows of k, d, decay; M of all heads */
};

size_t linear_scratch(const struct op_linear *o);       /* bytes per thread */

/* Number of decays of a head in a row. */
static inline size_t linear_decays(const struct op_linear *o)
{
	return o->by_key ? o->dim_k : 1;
}

/* A work item of linear and of keep: values [v, v + n) of a head, in one run; head_k is the key head that it reads. */
struct head_values {
	const struct run *run;
	size_t head, head_k, v, n;
};

size_t linear_items(const struct op *op, const struct step *s);        /* items() of both ops */
struct head_values linear_values(const struct op_linear *o, const struct step *s, size_t item);

extern const struct op_kind op_linear_gates, op_linear, op_linear_keep;

/* Appends the three ops, and reserves their space in the segment. Makes `out`. */
void linear_build(struct builder *b, struct op_linear *o, struct value *out);

#endif
