/* rwkv: what RWKV 6 and 7 share: hyperparameters, the shift of each row towards the one before, low-rank products, and
 * recurrences with a matrix for each head. */
#ifndef RWKV_H
#define RWKV_H

#include "fwd/builder/build.h"
#include "mixer.h"

enum { RWKV_HEAD_MAX = 256 };

struct rwkv {
	size_t head_size;
	size_t rank_w, rank_a, rank_v, rank_g;  /* of the low-rank products (RWKV 6: w of decays, a of the shift) */
	size_t halved;                  /* RWKV 6: x is halved after every this many layers; 0: never */
};

struct rwkv *rwkv_of(struct model *m);

/* Reads head_size, which must divide n_embd. */
int rwkv_read(struct model *m, struct why *w);

/* Each output is x + weight · (the row before − x). At position 0, the row before is 0 (Peng et al. 2023). */
struct op_shift {
	size_t n, outputs;
	const float *weight;            /* [outputs][n] */
	struct buffer in, out;          /* out: [outputs][n] per row */
	struct buffer change;           /* receives the row before − x, unless at is NULL */
	size_t state;                   /* offset in the segment: the latest row */
};

/* The same with weights that depend on the row: out = x + (weight + out) · change (RWKV 6; Peng et al. 2024). */
struct op_blend {
	size_t n, outputs;
	const float *weight;            /* [outputs][n] */
	struct buffer x, change, out;   /* out: [outputs][n] per row */
};

extern const struct op_kind op_shift, op_blend;

/* Blends each row of x with the row before, by the tensor [outputs][n_embd] of this name. */
struct value *rwkv_shift(struct builder *b, const char *weights, size_t outputs, struct value *x);

/* weights[outputs][n_embd] of a shift, from files that store each output's vector as a tensor of its own. */
const float *rwkv_shift_weights(struct builder *b, const char *const *names, size_t outputs);

/* The tensors of y = second · f(first · x) + bias. bias NULL: none. */
struct rwkv_low_rank {
	const char *first, *second, *bias;
	size_t rank;                    /* rows of `first` */
	enum row_function f;
};

/* Makes y, n_embd elements. */
void rwkv_low_rank(struct builder *b, struct value *x, const struct rwkv_low_rank *l, struct value *y);

/* The layer norm of each head's result; weights [n_embd]. NORM_NONE if the file has none. */
struct norm rwkv_norm(struct builder *b);

/* RWKV's recurrence: in place of attention, a matrix for each head of `size` elements. RWKV 6 (Peng et al. 2024): rows
 * have w, k, v, r and g, n elements each; w = e^(−e^w);
 *   out = the sum of r[i] · s[i], + v · the sum of r · k · bonus;  s[i] = w[i] · s[i] + k[i] · v;
 *   r = norm(out) · silu(g)
 * Without a bonus: k *= 1 − w, out is computed from the updated s and divided by the root of size, r = out ·
 * sigmoid(g). */
struct op_wkv {
	size_t n, size;                 /* of all heads; of one */
	const float *bonus;             /* [n] */
	struct norm norm;               /* of each head's result; weights [n]; or NORM_NONE */
	size_t state;                   /* offset in the segment: [heads][size keys][size values] */
};

struct op_wkv6 {
	struct op_wkv wkv;              /* first: wkv.c reads only this */
	struct buffer w, k, v, r, g;
};

/* RWKV 7 (Peng et al. 2025). Rows hold r, w, k, v, a, g and m, the weights of the first layer's values. w, a and m come
 * through sigmoids; then:
 *   w = e^(-0.606531 · w);  v += m · (v_first − v);  kk = k · key_norm / its length;  k += (a − 1) · key_rate · k
 *   s[i] = w[i] · s[i] + k[i] · v − a[i] · kk[i] · (the sum of kk[j] · s[j] before);  out = the sum of r[i] · s[i]
 *   r = (norm(out) + v · the sum of r · k · bonus) · g, where gated */
struct op_wkv7 {
	struct op_wkv wkv;              /* first: wkv.c reads only this */
	const float *key_norm, *key_rate;       /* [n] */
	struct buffer r, w, k, v, a, g, first;  /* g not set: not gated; first: m, not set in the first layer */
	struct buffer v_first;
	int is_first;                   /* this layer makes v_first */
};

extern const struct op_kind op_wkv6, op_wkv7;

/* items() and work() of both kinds. */
size_t wkv_items(const struct op *op, const struct step *s);
void wkv_work(const struct op *op, const struct step *s, struct work *w);

/* Runs an item: calls move() for each row of it. move() updates state[size][size] by that row of the batch, and leaves
 * the head's result in the row. `at` is the index of the head's first element in r, w, k and so on. */
void wkv_rows(const struct op *op, const struct step *s, size_t item,
	void (*move)(const struct op *op, const struct kernels *k, size_t row, size_t at, float *state));

/* The sum of a[i] · b[i], i < n. */
float wkv_dot(const struct kernels *k, const float *a, const float *b, size_t n);

/* Norms out[size], if o has a norm. at: as above. */
void wkv_norm(const struct op_wkv *o, const struct kernels *k, float *out, size_t at);

#endif
