/* kinds: the kinds of op, and the parameters to which the ops of each are bound. Each kind is defined in a file of this
 * folder. Private to the builder and to these files. */
#ifndef KINDS_H
#define KINDS_H

#include "fwd/model/model.h"
#include "mixture.h"
#include "op.h"

/* x = scale · the embedding of the row's id, + the embedding of its position if positions are learned. */
struct op_embed {
	struct matrix ids, positions;   /* positions.rows 0: none */
	const int32_t *substitute;      /* [n_vocab]: the id whose embedding is used for each; NULL: its own */
	float scale;                    /* of the embedding of an id */
	struct buffer x, spare;         /* spare: for the embedding of the position */
};

/* Computes the cosines and sines of each row's position. */
struct op_angles {
	struct rope *rope;
};

/* What happens to a row between two products, in one pass over the row. Steps in this order, each only if it is set:
 *   branch = norm(branch);  x += scale · branch;  x *= x_scale;  out = f(in);  out = norm(out);  packed = out. */
enum row_function { ROW_SAME, ROW_UNARY, ROW_GLU, ROW_XIELU, ROW_CLAMP, ROW_SPARSE, ROW_TANH, ROW_GATES };

struct op_rows {
	size_t n;                       /* elements of out */
	struct buffer x, branch;        /* branch.at NULL: nothing is added */
	struct norm branch_norm;
	float scale;                    /* of branch */
	float x_scale;                  /* 0: x is not multiplied */
	enum row_function f;
	float most;                     /* CLAMP: to [-most, most]; SPARSE: standard deviations, see sparsify() */
	struct buffer in, out;          /* GLU: in is the gate's n elements, then up's, unless `up` is set. SAME without
					 * the other steps, CLAMP, SPARSE and TANH work in place */
	struct buffer up;               /* GLU: up's n elements, if they are elsewhere; GATES: the n elements */
	size_t gates;                   /* GATES: number of gates in `in`; each applies to an equal part of the row */
	struct glu_limit limit;         /* GLU */
	enum unary unary;
	struct xielu xielu;
	struct norm norm;
	size_t norms;                   /* number of equal parts of a row that are normed separately; 0: the whole
					 * row */
	int norm_first;                 /* GLU: the norm is of up's n elements, before the product */
	struct packed *packed;          /* or NULL */
};

/* y[n] = f(gate) · up, within the limits. Overwrites up. */
void rows_glu(const struct kernels *k, enum unary f, struct glu_limit limit, float *y, const float *gate, float *up,
	size_t n);

/* y = W · x + bias, for up to PRODUCTS_MAX matrices and the same packed rows. */
enum { PRODUCTS_MAX = 4 };

struct op_product {
	struct packed *x;
	size_t n;                       /* number of products */
	struct matrix w[PRODUCTS_MAX];
	const float *scale[PRODUCTS_MAX];       /* of the product, before the bias: one, [n] for experts, or NULL */
	const float *bias[PRODUCTS_MAX];        /* [w.rows] or NULL; of experts [n][w.rows] */
	const struct routing *routing;  /* w has the matrices of all experts, one after the other; or NULL */
	size_t heads, step;             /* w has a matrix for each head; results are `step` apart; 0: one matrix */
	enum acts_kind kind[PRODUCTS_MAX];
	struct buffer y[PRODUCTS_MAX];  /* y.at NULL: the step's logits */
};

/* Attention takes four ops. prepare: norms and rotates q and k. store: writes K and V to the segment. attend: computes
 * the heads' results. join: combines partial results, if threads shared the blocks of one context. */
struct op_attention {
	struct buffer qkv, out;         /* q of all heads, then k, then v; out: [n_head·dim_v] */
	struct attend heads;            /* sizes; what depends on the run is filled in for each work item */
	size_t offset[KV_TYPES];        /* in the data of an extent, by the type of K and V: of the layer's first KV
					 * head */
	struct norm q_norm, k_norm, v_norm;     /* of each head */
	int recent;                     /* the offset is in the data of layers with a window */
	enum sight sight;
	int shares;                     /* K and V are those of an earlier layer: nothing is stored */
	size_t norm_step;               /* floats between the norm weights of adjacent heads; 0: all heads share them */
	int late;                       /* norms come after the rotation */
	size_t rope_at;                 /* the first element of a head that rotates */
	size_t top;                     /* rows that see more positions than this are left to attend_groups; 0: none */
	struct temperature temperature;
	enum rope_pairs pairs;
	const struct rope *rope;        /* or NULL */
};

/* Compressed attention (DeepSeek-AI 2026). A group is `ratio` positions, starting at a multiple of it. Element by
 * element, its compressed row is the weighted sum of the values of its rows. The weights are a softmax of the rows'
 * scores plus a bias for each position in the group. If groups overlap, rows have two halves: the sum is over the
 * second halves of the group's own rows and the first halves of the rows of the group before. Sums are updated row by
 * row, as attention does block by block:
 *   m' = max(m, score);  a = e^(m − m');  c = e^(score − m');  l = l · a + c;  o = o · a + c · value;  the sum is o / l
 * compress: computes a compressed row as soon as its group is complete, and leaves it in the row of the group's last
 * position. */
struct op_compress {
	size_t n, ratio;
	int overlaps;
	const float *position_bias;     /* [ratio][n, or 2n] */
	struct buffer rows, out;        /* rows: values, then scores */
	size_t ring, state;             /* offsets in the segment: of the ring of rows; of the state, which is m, l and
					 * o of an incomplete group at a chunk's start */
};

/* keep_group: norms a group's row, rotates it by the group's first position, and stores it in the segment. The keys of
 * an indexer that chooses single positions are stored in the same way, as groups of one. */
struct op_keep_group {
	size_t n, ratio, rope_at;
	struct buffer x;
	struct norm norm;
	enum rope_pairs pairs;
	const struct rope *rope;
	const struct grouped *kept;
	size_t offset;                  /* in what the segment keeps of a group */
};

/* index: in batches of few rows, the scores of the groups that each row sees: the sum over heads of weight · scale ·
 * max(q · k, 0). choose: for each row that sees more than `top`, the numbers of the best (best.h), ascending. In
 * batches of many rows, choose also computes the scores. */
struct op_choose {
	size_t heads, n, top, ratio, rope_at;
	float scale;
	struct buffer q, weight;        /* [heads][n], not yet rotated; [heads] */
	enum rope_pairs pairs;
	const struct rope *rope;
	const struct grouped *kept;     /* the groups' keys, n elements */
	size_t offset;
	int split;                      /* chooses positions, by the scores of their groups; those after the last whole
					 * group rank first */
	size_t block, local;            /* block > 0: each head chooses among groups of this many positions, by the
					 * largest score in each; the last `local` groups rank first */
	struct buffer chosen;           /* [top], or [heads][top], as int32_t */
};

/* attend_groups: attention over compressed rows (all, or the chosen ones) in blocks of ATTEND_BLOCK, then over the
 * blocks of the window, merged in this order. Keys are also values, so the heads' results are rotated back.
 * Without `kept` it attends to groups of `ratio` positions instead, by the layer's own keys and values, and to the
 * positions after the last complete group; there is no window and no rotation back, and rows that see everything are
 * left to op_attend. by_head: each KV head sees groups of its own, which include the row's own group, up to the row. */
struct op_attend_groups {
	struct op_attention attention;
	size_t ratio;                   /* 0: no compressed rows */
	const struct grouped *kept;     /* or NULL */
	size_t offset;
	struct buffer chosen;
	size_t top;                     /* 0: all are seen */
	int by_head;
};

/* Scratch bytes of each thread, for contexts up to n_ctx. choose_index_bytes(): bytes that index needs for each block
 * of the context, shared by threads. */
size_t choose_scratch(const struct op_choose *o, size_t n_ctx);
size_t choose_index_bytes(const struct op_choose *o);
size_t attend_groups_scratch(const struct op_attend_groups *o, const struct kernels *k, size_t n_ctx);

/* Where the segment keeps a compressed row, or an indexer's key: `offset` floats into what it keeps of the group. */
float *grouped_at(const struct grouped *g, const struct segment *state, size_t offset, size_t group);

/* A causal convolution of each of n channels: y at position t is the sum of weight[taps - 1 - j] · (u at t - j) over j
 * < taps, added product by product, j ascending, plus the bias. Plain: u = x, out = silu(y). Gated (Liquid AI 2025): u
 * = b · x, out = c · y. taps - 1 is at most STATE_CHUNK. */
struct op_convolve {
	size_t n, taps;
	const float *weight, *bias;     /* [taps][n]; [n] or NULL */
	int gated;
	struct buffer in, out;          /* in: x, and out may be the same; gated: b, c and x, n elements each */
	size_t ring, state;             /* offsets in the segment of u, [n]: in recent rows; in a state, which has taps
					 * - 1 rows */
};

/* A selective scan of n channels, each with its own states s. With d = softplus(dt):
 *   s[i] = e^(d · a[i]) · s[i] + (d · x) · b[i];  y = skip · x + the sum of c[i] · s[i], i ascending. */
struct op_scan {
	size_t n, states;
	const float *a, *skip;          /* [states][n]; [n] */
	struct buffer x, dt, bc;        /* dt: overwritten by y; bc: b, then c, shared by all channels */
	size_t state;                   /* offset in the segment: [states][n] */
};

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
	struct buffer rows;
	size_t state;                   /* offset in the segment: [heads][size keys][size values] */
};

/* RWKV 7 (Peng et al. 2025). Rows hold r, w, k, v, a, g and m, the weights of the first layer's values. w, a and m come
 * through sigmoids; then:
 *   w = e^(-0.606531 · w);  v += m · (v_first − v);  kk = k · key_norm / its length;  k += (a − 1) · key_rate · k
 *   s[i] = w[i] · s[i] + k[i] · v − a[i] · kk[i] · (the sum of kk[j] · s[j] before);  out = the sum of r[i] · s[i]
 *   r = (norm(out) + v · the sum of r · k · bonus) · g, where gated */
struct op_wkv7 {
	struct op_wkv wkv;              /* first, for wkv.h */
	const float *key_norm, *key_rate;       /* [n] */
	int gated;
	struct buffer v_first;
	int is_first;                   /* this layer makes v_first */
};

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
	int runs;                       /* consecutive heads share a key head; else head j uses key head j mod
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

/* Moves the wanted rows of several buffers to the front. */
enum { SELECT_MAX = 8 };

struct op_select {
	size_t buffers;
	struct buffer x[SELECT_MAX];
	size_t n[SELECT_MAX];           /* elements of a row */
};

/* Inputs of all layers, computed from a row's id and its embedding (Gemma 3n and 4). p, [layers][n] per row, becomes
 * for each layer (scale · embedding of the id + norm(p / root)) / √2. */
struct op_per_layer {
	struct matrix ids;              /* rows of [layers][n] */
	size_t layers, n;
	float scale, root;
	struct norm norm;               /* of n elements */
	struct buffer p, spare;
};

/* AltUp, alternating updates (Baykal et al. 2023): the residual stream has several streams of n elements, of which a
 * layer reads and updates the first.
 * level: scales each stream but the first to the length of the first.
 * predict: predicted = x + C · x; the layer continues with the first stream of it. C has a row for each stream, a
 * product of tanh(modes).
 * correct: x = predicted + c · (what the layer made of the first stream − its prediction). c, a number for each stream,
 * is 1 + a product of tanh(modes). scaled = the first stream · weight.
 * spread: adds the branch, normed, to each stream but the first.
 * unite: like level; then the first stream becomes the mean of all. */
struct op_altup {
	size_t streams, n;
	struct buffer x, predicted;     /* [streams][n] per row */
	struct buffer modes;            /* [streams]: the router's logits */
	const float *matrix;            /* predict: [streams²][streams]; correct: [streams][streams] */
	const float *weight;            /* [n] */
	struct buffer scaled, branch;   /* [n] */
	struct norm branch_norm;
};

/* Hyper-connections (Zhu et al. 2024): the residual stream has several streams of n elements. Each part of a layer
 * reads a weighted sum of them, and its branch is added, weighted, to each. The weights come from mixes, a product of
 * all streams: first one for reading each stream, then one for updating each. A weight is sigmoid(mix · scale + base),
 * for updating times magnitude, + eps.
 * gather: out = the weighted sum. scatter: x[i] += weight[i] · out, where out is the branch.
 * With rounds, streams² further mixes give a mixing matrix c (Xie et al. 2025): row by row, a softmax of mix · scale +
 * base, + eps; then, in each round, rows and then columns are divided by their sums + eps; the first round divides
 * columns only. scatter: x[i] = weight[i] · out + the sum of c[j][i] · x[j]; eps is not added to these weights. */
struct op_hyper {
	size_t streams, n;
	struct buffer x, mixes, out;
	struct buffer before;           /* with rounds: space for a copy of x */
	const float *scale, *base;      /* [1 to 3]; [1 or 2][streams], then [streams²] */
	float eps, magnitude;
	size_t rounds;
};

/* out = the sum of the streams, each times the sigmoids of its gates. Overwrites the gates. */
struct op_gather_gated {
	size_t streams, n;
	struct buffer x, gates, out;    /* [streams][n] per row; the same; [n] */
};

/* ngrams: out = the table's rows of the n-grams that end at this position (model.h), head by head. ngram_gates: each
 * stream's key becomes the value, times sigmoid(s), where s is the square root of |key · query / √n|, with its sign. */
struct op_ngrams {
	const struct ngrams *ngrams;
	struct matrix table;
	struct buffer out;
};

struct op_ngram_gates {
	size_t streams, n;
	struct buffer keys, queries, value;     /* [streams][n] per row; the same; [n] */
};

/* Attention residuals (Moonshot 2026): a row has the residual stream, then what it was before each block of layers.
 * attn_res: out = the sum of streams 0 to `blocks`, weighted by a softmax of the sums of norm(stream) · weight. bank:
 * copies the residual stream to that of the latest block, and sets it to 0. */
struct op_attn_res {
	size_t n, blocks;
	float gate;                     /* out = x + gate · (the sum − x) */
	struct buffer x, scores, out;   /* [1 + blocks][n] per row; [1 + blocks]; [n] */
	const float *weight;            /* [n] */
	float eps;
};

/* Packs rows for products by head: n elements for each head, `step` apart. */
struct op_head_rows {
	struct buffer in;
	size_t heads, n, step;
	struct packed *packed;
};

/* Copies elements from row to row: n for each head; the heads are from_step and to_step apart. */
enum { COPIES_MAX = 4 };

struct op_copy {
	size_t copies;
	struct copy {
		struct buffer from, to;
		size_t heads, n, from_step, to_step;
	} copy[COPIES_MAX];
};

/* Scales the step's logits, then caps them by cap · tanh(x / cap). cap 0: not capped. */
struct op_logits {
	size_t n;                       /* logits of a row */
	float scale, cap;
	size_t from, to;                /* these become -FLT_MAX */
};

extern const struct op_kind op_embed, op_angles, op_rows, op_product;
extern const struct op_kind op_prepare, op_store, op_attend, op_join, op_select, op_logits;
extern const struct op_kind op_compress, op_keep_group, op_index, op_choose, op_attend_groups;
extern const struct op_kind op_convolve, op_scan, op_shift, op_blend, op_wkv6, op_wkv7;
extern const struct op_kind op_linear_gates, op_linear, op_linear_keep;
extern const struct op_kind op_head_rows, op_copy, op_per_layer;
extern const struct op_kind op_level, op_predict, op_correct, op_spread, op_unite;
extern const struct op_kind op_gather, op_gather_gated, op_scatter, op_ngrams, op_ngram_gates, op_attn_res, op_bank;

/* ---- mixtures of experts ---- */

/* Chooses experts by the router's logits, and computes their weights. */
struct op_route {
	struct routing *routing;
	const struct experts *experts;
	struct buffer logits;           /* [experts], overwritten */
	const float *bias;              /* [experts] or NULL */
	const int32_t *by_id;           /* [n_vocab][used], the experts of each id; NULL: the best by score + bias */
};

/* Chooses the adjugates of each row, after op_route and by the same scores: those of the best experts. */
struct op_route_adjugates {
	struct routing *routing;
	const struct experts *adjugates;
	struct buffer scores;           /* [adjugates · stand_for] */
};

/* Chooses the adapter of each row (model.h). It becomes the row's only expert, whose weights are the deltas. */
struct op_adapters {
	struct routing *routing;
	size_t n_vocab;
	const uint16_t *switched;       /* [n_vocab]: the adapter that an id switches on; 0: none */
	double other;
};

/* Packs rows for each expert. gathers: rows of the batch, before the first product; else the rows by place, activated,
 * before the second. */
struct op_expert_rows {
	struct routing *routing;
	size_t n;                       /* elements of a row */
	struct buffer in;               /* gathers: rows of the batch; else by place */
	int gathers, weighted;          /* weighted: rows are multiplied by the slot's weight */
	int plain;                      /* not activated */
	int gated;                      /* glu() of a row's first n elements and the next n; else unary() of n */
	enum unary unary;
	struct glu_limit limit;         /* gated */
	struct packed *packed;
};

/* out = the weighted sum of the results of a row's experts, plus the shared expert's result. */
struct op_combine {
	const struct routing *routing;
	size_t n;
	struct buffer in, out;          /* in: rows by place */
	int unweighted;                 /* inputs were weighted already, or there are no weights */
	int adds;                       /* adds to out instead of overwriting it */
	const float *scale;             /* [experts], multiplies the weights; or NULL */
	struct buffer shared, gate;     /* at NULL: none. gate: one logit per row, whose sigmoid replaces
					 * scale_shared */
	float scale_shared;
};

/* Bytes for the packed rows of `slots` slots, whatever number each expert has. */
size_t expert_acts_bytes(const struct kernels *k, enum acts_kind kind, size_t elements, size_t slots);

/* Reserves n rows for expert or head e, `at` bytes from the start. Returns where the next ones go, in bytes. */
size_t packed_place(const struct packed *p, const struct kernels *k, size_t e, size_t n, enum acts_kind kind,
	size_t at);

extern const struct op_kind op_route, op_route_adjugates, op_adapters, op_expert_rows, op_combine;

/* A work item of prepare and of store: rows [from, to) of the batch, of one run, and a KV head. */
struct kv_rows {
	const struct run *run;
	size_t head, from, to;
};

size_t kv_rows_items(const struct op *op, const struct step *s);      /* items() of both ops */
struct kv_rows kv_rows_of(const struct op_attention *a, const struct step *s, size_t item);

/* Where the segment has K and V of a KV head. */
struct kv_head kv_head_of(const struct op_attention *a, const struct segment *state, size_t head);

#endif
