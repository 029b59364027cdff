/* kinds: the kinds of op, and what the ops of each are bound to. One file of this folder defines each kind. Private to
 * the builder and to these files. */
#ifndef KINDS_H
#define KINDS_H

#include "fwd/model/model.h"
#include "mixture.h"
#include "op.h"

/* x = the embedding of each id, plus that of its position where positions are learned. */
struct op_embed {
	struct matrix ids, positions;   /* positions.rows 0: none */
	const int32_t *substitute;      /* [n_vocab]: the id that is embedded in place of each; NULL: itself */
	float scale;                    /* of the embedding of an id */
	struct buffer x, spare;         /* spare: for the row of a position */
};

/* Cosines and sines of each row's position. */
struct op_angles {
	struct rope *rope;
};

/* What happens to a row between two products, in one pass over it and in this order, each part where it is set:
 *   branch = norm(branch);  x += scale · branch;  x *= x_scale;  out = f(in);  out = norm(out);  packed = out. */
enum row_function { ROW_SAME, ROW_UNARY, ROW_GLU, ROW_XIELU, ROW_CLAMP, ROW_SPARSE, ROW_TANH, ROW_GATES };

struct op_rows {
	size_t n;                       /* elements of out */
	struct buffer x, branch;        /* branch.at NULL: nothing is added */
	struct norm branch_norm;
	float scale;                    /* of the branch */
	float x_scale;                  /* of x, then; 0: none */
	enum row_function f;
	float most;                     /* CLAMP: to [-most, most]; SPARSE: deviations, see sparsify() */
	struct buffer in, out;          /* GLU: the gate's n elements, then the other n. SAME alone, CLAMP, SPARSE,
					 * TANH: out is in */
	struct buffer up;               /* GLU: the other n elements, where they lie elsewhere; GATES: the n elements */
	size_t gates;                   /* GATES: their number, in `in`, each for an equal part of the row */
	struct glu_limit limit;         /* GLU */
	enum unary unary;
	struct xielu xielu;
	struct norm norm;
	size_t norms;                   /* equal parts of a row that are normed one by one; 0: the whole */
	int norm_first;                 /* GLU: of the other n elements, before it */
	struct packed *packed;          /* or NULL */
};

/* y = f(gate) · up, within limits, if there are any; then up is overwritten. */
void rows_glu(const struct kernels *k, enum unary f, struct glu_limit limit, float *y, const float *gate, float *up,
	size_t n);

/* Products of the same packed rows: y = W·x, plus a bias. */
enum { PRODUCTS_MAX = 4 };

struct op_product {
	struct packed *x;
	size_t n;                       /* products */
	struct matrix w[PRODUCTS_MAX];
	const float *scale[PRODUCTS_MAX];       /* of the product, before the bias: one, or NULL; of experts [n] */
	const float *bias[PRODUCTS_MAX];        /* [w.rows] or NULL; of experts [n][w.rows] */
	const struct routing *routing;  /* w holds the matrices of all experts, one after the other; or NULL */
	size_t heads, step;             /* w holds a matrix for each head, whose results lie step apart; 0: one */
	enum acts_kind kind[PRODUCTS_MAX];
	struct buffer y[PRODUCTS_MAX];  /* at NULL: the step's logits */
};

/* Attention is four ops. prepare: norms and rotation of q and k; store: K and V into the state; attend: what the heads
 * make of the values; join: the same put together, where threads shared the blocks of one context. */
struct op_attention {
	struct buffer qkv, out;         /* q of all heads, then k, then v; out: [n_head·dim_v] */
	struct attend heads;            /* sizes; what belongs to a run is filled in for each piece */
	size_t offset[KV_TYPES];        /* in the data of an extent, by the state's type: the layer's first KV head */
	struct norm q_norm, k_norm, v_norm;     /* of each head */
	int recent;                     /* the offset is in the data of layers with a window */
	int shares;                     /* K and V are those of an earlier layer */
	size_t norm_step;               /* floats from one head's weights to the next one's; 0: all have the same */
	int late;                       /* norms after the rotation */
	size_t rope_at;                 /* the first element of a head that rotates */
	size_t top;                     /* rows that see more positions are left to attend_groups; 0: none is */
	struct temperature temperature;
	enum rope_pairs pairs;
	const struct rope *rope;        /* or NULL */
};

/* Compressed attention (DeepSeek-AI 2026). A group is `ratio` positions, from a multiple of it on. Its compressed row
 * is, element by element, the sum of its rows' values, weighted by a softmax of their scores, to which those of their
 * places in the group are added. Where groups overlap, rows have two halves: of the rows of the group before, the
 * first halves count, too, and of the group's own the second. Weights are summed up row by row, as in attention block
 * by block:
 *   m' = max(m, score);  a = e^(m − m');  c = e^(score − m');  l = l · a + c;  o = o · a + c · value;  the sum is o / l
 * compress: makes them where a group is complete, in the row of its last position. */
struct op_compress {
	size_t n, ratio;
	int overlaps;
	const float *places;            /* [ratio][n, or 2n] */
	struct buffer rows, out;        /* rows: values, then scores */
	size_t ring, state;             /* of rows; at a chunk's start, of what a group before it has left: m, l, o */
};

/* keep_group: norms a group's row, rotates it by the group's first position and stores it in the segment. The keys of
 * an indexer that chooses positions, which are groups of one, are stored in the same way. */
struct op_keep_group {
	size_t n, ratio, rope_at;
	struct buffer x;
	struct norm norm;
	enum rope_pairs pairs;
	const struct rope *rope;
	const struct grouped *kept;
	size_t offset;                  /* in what is kept of a group */
};

/* index: in batches of few rows, the scores of the compressed rows that each row sees: the sum over heads of weight ·
 * scale · max(q · k, 0). choose: for a row that sees more than `top`, the numbers of the best (best.h), ascending. In
 * batches of many rows it computes the scores, too. */
struct op_choose {
	size_t heads, n, top, ratio, rope_at;
	float scale;
	struct buffer q, weight;        /* [heads][n], not rotated yet; [heads] */
	enum rope_pairs pairs;
	const struct rope *rope;
	const struct grouped *kept;     /* keys of n elements */
	size_t offset;
	int split;                      /* positions are chosen, by their groups' scores; those after the last complete
					 * group are the best */
	size_t block, local;            /* block > 0: each head chooses among groups of so many positions, by the
					 * largest score in each; the last ones are the best */
	struct buffer chosen;           /* [top], or [heads][top], of int32_t */
};

/* attend_groups: attention over compressed rows, all of them or those chosen, in blocks of ATTEND_BLOCK, and then over
 * the blocks of the window, merged in this order. Keys are also the values, so heads' results are rotated back. Without
 * `kept`, groups are `ratio` positions, with the layer's own keys and values, and the positions after the last complete
 * group are seen, too: there is no window and no rotation back, and the op handles only rows that choose. By head: each
 * KV head sees groups of its own, and among them that of the row, up to the row. */
struct op_attend_groups {
	struct op_attention attention;
	size_t ratio;                   /* 0: no compressed rows */
	const struct grouped *kept;     /* or NULL */
	size_t offset;
	struct buffer chosen;
	size_t top;                     /* 0: all are seen */
	int by_head;
};

/* Scratch bytes of a thread, for contexts up to n_ctx; bytes that index needs for each block of the context. */
size_t choose_scratch(const struct op_choose *o, size_t n_ctx);
size_t choose_index_bytes(const struct op_choose *o);
size_t attend_groups_scratch(const struct op_attend_groups *o, const struct kernels *k, size_t n_ctx);

/* A compressed row of a segment, or an indexer's key: `offset` floats into what is kept of the group. */
float *grouped_at(const struct grouped *g, const struct segment *state, size_t offset, size_t group);

/* A causal convolution of each of n channels: y at position t is the sum of weight[taps - 1 - j] · (u at t - j) over
 * j < taps, product by product, j ascending, plus the bias. u = x, out = silu(y); or, between gates (Liquid AI 2025),
 * u = b · x, out = c · y. taps - 1 is at most STATE_CHUNK. */
struct op_convolve {
	size_t n, taps;
	const float *weight, *bias;     /* [taps][n]; [n] or NULL */
	int gated;
	struct buffer in, out;          /* in: x, and out may be the same; or, gated, b, c and x, n elements each */
	size_t ring, state;             /* where u lies, [n]: in recent rows; in a state, of taps - 1 rows before it */
};

/* A selective scan of n channels, each with its own states s: where d = softplus(dt),
 *   s[i] = e^(d · a[i]) · s[i] + (d · x) · b[i];  y = skip · x + the sum of c[i] · s[i], i ascending. */
struct op_scan {
	size_t n, states;
	const float *a, *skip;          /* [states][n]; [n] */
	struct buffer x, dt, bc;        /* dt: becomes y; bc: b, then c, the same for all channels */
	size_t state;                   /* of the layer's in the segment: [states][n] */
};

/* Each output is x + weight · (the row before − x), which is 0 at position 0 (Peng et al. 2023). */
struct op_shift {
	size_t n, outputs;
	const float *weight;            /* [outputs][n] */
	struct buffer in, out;          /* out: [outputs][n] in a row */
	struct buffer change;           /* the row before − x, where at is not NULL */
	size_t state;                   /* of the layer's in the segment: the latest row */
};

/* The same with weights that depend on the row: out = x + (weight + out) · change (RWKV 6: Peng et al. 2024). */
struct op_blend {
	size_t n, outputs;
	const float *weight;            /* [outputs][n] */
	struct buffer x, change, out;   /* out: [outputs][n] in a row */
};

/* A matrix for each head of `size` elements in place of attention. RWKV 6 (Peng et al. 2024): rows hold w, k, v, r and
 * g, n elements each; w = e^(−e^w);
 *   out = the sum of r[i] · s[i], + v · the sum of r · k · bonus;  s[i] = w[i] · s[i] + k[i] · v;
 *   r = norm(out) · silu(g)
 * or, without a bonus, k *= 1 − w, out is made from the s that follows, over the root of size, r = out · sigmoid(g). */
struct op_wkv {
	size_t n, size;                 /* of all heads; of one */
	const float *bonus;             /* [n] */
	struct norm norm;               /* of a head; weights [n]; or NORM_NONE */
	struct buffer rows;
	size_t state;                   /* of the layer's in the segment: [heads][size keys][size values] */
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
	int is_first;                   /* makes v_first */
};

/* Attention without softmax (Katharopoulos et al. 2020). Each head has a state M[dim_k][dim_v], zero at first. Within a
 * chunk of STATE_CHUNK positions, G_t is the sum of the decays of its rows up to t, and M the state at its start:
 *   r_t = e^G_t · (k_t M) + the sum of e^(G_t − G_s) (k_s · k_t) d_s over s < t;    d_t = beta_t (v_t − r_t)
 *   out_t = e^G_t · (q_t M) + the sum of e^(G_t − G_s) (k_s · q_t) d_s over s <= t, + skip · v_t
 * and at its end, where G is that of its last row, M = e^G M + the sum of k_s ⊗ e^(G − G_s) d_s. That is the gated
 * delta rule (Yang et al. 2024), chunk by chunk; without `delta`, d_t = beta_t v_t (Mamba 2: Dao and Gu 2024). By key,
 * G and e^G are vectors, which multiply k_t, q_t and k_s. Sums over keys and rows are chains of fma, ascending, so that
 * a row has the same bits in any batch.
 *
 * Three ops. gates: norms of q and k, if there are any; beta = sigmoid(beta), decay = a · softplus(decay + bias) or,
 * without `delta`, beta = softplus(decay + bias), decay = a · beta; or, with a lower bound, decay =
 * lower_bound · sigmoid(a · (decay + bias)). linear: d and out. keep: stores rows for later batches. */
struct op_linear {
	size_t n_head, n_head_k;        /* of values; of keys and queries */
	int runs;                       /* those that read a key head follow each other; else it is j mod n_head_k */
	size_t dim_k, dim_v;
	int delta;
	int by_key;                     /* a decay for each key: Kimi delta attention (Moonshot 2025) */
	int constant;                   /* decay = a, beta = 1: lightning attention (Qin et al. 2024) */
	struct norm q_norm, k_norm;     /* of a head */
	float lower_bound;              /* of decays, below 0; 0: none */
	const float *bias, *a, *skip;   /* like decay, bias may be NULL; skip: [n_head], NULL: none */
	struct buffer q, k, v, decay, beta;     /* of all heads; beta: [n_head]; decay: too or, by key, times dim_k */
	struct buffer d, out;           /* like v; d is v, or out is, if there is no skip or no delta */
	size_t ring_k, ring_d, ring_g, state;   /* places in the segment: of rows of k, d, decay; of M of all heads */
};

size_t linear_scratch(const struct op_linear *o);       /* bytes of a thread */

/* Decays of a head in a row. */
static inline size_t linear_decays(const struct op_linear *o)
{
	return o->by_key ? o->dim_k : 1;
}

/* What a piece of linear and of keep is about: values [v, v + n) of a head, in one run, and the key head it reads. */
struct head_values {
	const struct run *run;
	size_t head, head_k, v, n;
};

size_t linear_pieces(const struct op *op, const struct step *s);       /* pieces() of both */
struct head_values linear_values(const struct op_linear *o, const struct step *s, size_t piece);

/* The wanted rows of some buffers, moved to their fronts. */
enum { SELECT_MAX = 8 };

struct op_select {
	size_t buffers;
	struct buffer x[SELECT_MAX];
	size_t n[SELECT_MAX];           /* elements of a row */
};

/* Inputs of all layers from a row's id and its embedding (Gemma 3n and 4): p, [layers][n] in a row, becomes for each
 * layer (scale · embedding of the id + norm(p / root)) / √2. */
struct op_per_layer {
	struct matrix ids;              /* rows of [layers][n] */
	size_t layers, n;
	float scale, root;
	struct norm norm;               /* of n elements */
	struct buffer p, spare;
};

/* Alternating updates (AltUp; Baykal et al. 2023): a row of the residual stream is several streams of n elements, of
 * which a layer reads and updates the first.
 * level: each stream but the first is scaled to the length of the first;
 * predict: predicted = x + C · x, from which the layer goes on with the first stream; C: one row for each stream,
 *   from tanh(modes);
 * correct: x = predicted + c · (what the layer made of the first stream − its prediction), where c, one number for
 *   each stream, is 1 + a product with tanh(modes); scaled = the first stream · weight;
 * spread: the branch, normed, is added to each stream but the first;
 * unite: level, then the first stream becomes the mean of all. */
struct op_altup {
	size_t streams, n;
	struct buffer x, predicted;     /* [streams][n] in a row */
	struct buffer modes;            /* [streams]: the router's logits */
	const float *matrix;            /* predict: [streams²][streams]; correct: [streams][streams] */
	const float *weight;            /* [n] */
	struct buffer scaled, branch;   /* [n] */
	struct norm branch_norm;
};

/* Hyper-connections (Zhu et al. 2024): a row of the residual stream is several streams of n elements, of which each
 * part of a layer reads a weighted sum, and to each of which its branch is added, weighted. A product of all streams
 * leaves mixes, one for each stream to read and then one for each to update; weights are sigmoid(mix · scale + base)
 * times 1, or the magnitude, + eps.
 * gather: out = the weighted streams; scatter: x[i] += weight[i] · out, the branch.
 * With rounds, there are streams² further mixes, which make a matrix c (Xie et al. 2025): row by row a softmax of mix ·
 * scale + base, + eps; then, in each round, rows and then columns are divided by their sums + eps; the first round has
 * columns alone. scatter: x[i] = weight[i] · out + the sum of c[j][i] · x[j]; eps is not added to these weights. */
struct op_hyper {
	size_t streams, n;
	struct buffer x, mixes, out;
	struct buffer before;           /* with rounds: for a copy of x */
	const float *scale, *base;      /* [1 to 3]; [1 or 2][streams], then [streams²] */
	float eps, magnitude;
	size_t rounds;
};

/* out = the sum of the streams, each times sigmoids of its gates, which are overwritten. */
struct op_gather_gated {
	size_t streams, n;
	struct buffer x, gates, out;    /* [streams][n] in a row; the same; [n] */
};

/* ngrams: out = the rows of the last ids' n-grams (model.h), head by head. ngram_gates: each stream's key becomes the
 * value, times the sigmoid of the root of key · query / √n, which keeps its sign. */
struct op_ngrams {
	const struct ngrams *ngrams;
	struct matrix table;
	struct buffer out;
};

struct op_ngram_gates {
	size_t streams, n;
	struct buffer keys, queries, value;     /* [streams][n] in a row; the same; [n] */
};

/* Attention residuals (Moonshot 2026): a row is the residual stream, then what it was before each block of layers.
 * attn_res: out = the sum of streams 0 to `blocks`, weighted by a softmax of the sums of norm(stream) · weight;
 * bank: the stream becomes that of the last block, and begins again at 0. */
struct op_attn_res {
	size_t n, blocks;
	float gate;                     /* out = x + gate · (the sum − x) */
	struct buffer x, scores, out;   /* [1 + blocks][n] in a row; [1 + blocks]; [n] */
	const float *weight;            /* [n] */
	float eps;
};

/* Rows packed for products by head: n elements of each, step apart. */
struct op_head_rows {
	struct buffer in;
	size_t heads, n, step;
	struct packed *packed;
};

/* Elements copied from row to row: n of each head, whose next head lies a step further. */
enum { COPIES_MAX = 4 };

struct op_copy {
	size_t copies;
	struct copy {
		struct buffer from, to;
		size_t heads, n, from_step, to_step;
	} copy[COPIES_MAX];
};

/* The step's logits, scaled and then capped, as cap · tanh(x / cap); cap 0: not capped. */
struct op_logits {
	size_t n;                       /* of a row */
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

/* The router's logits to experts and weights: those with the largest score + bias. */
struct op_route {
	struct routing *routing;
	const struct experts *experts;
	struct buffer logits;           /* [experts], overwritten */
	const float *bias;              /* [experts] or NULL */
	const int32_t *by_id;           /* [n_vocab][used], the experts of each id; NULL: the router's best */
};

/* The adjugates of each row, after op_route, by the same scores: those that stand for the best experts. */
struct op_route_adjugates {
	struct routing *routing;
	const struct experts *adjugates;
	struct buffer scores;           /* [adjugates · stand_for] */
};

/* The adapter of each row (model.h), which then is its one expert, with deltas for weights. */
struct op_adapters {
	struct routing *routing;
	size_t n_vocab;
	const uint16_t *switched;       /* [n_vocab]: the adapter that an id switches on; 0: none */
	double other;
};

/* Rows of the experts' inputs, packed for each expert: gathered from the batch's rows or, where `gathers` is not set,
 * those of places, activated there. */
struct op_expert_rows {
	struct routing *routing;
	size_t n;                       /* elements of a row */
	struct buffer in;               /* gathers: rows of the batch; else of places */
	int gathers, weighted;          /* weighted: times the slot's weight */
	int plain;                      /* not activated */
	int gated;                      /* glu() of a row's first n elements and the n that follow; else unary() */
	enum unary unary;
	struct glu_limit limit;         /* gated */
	struct packed *packed;
};

/* out = what the experts of a row made of it, weighted, plus the shared expert's result. */
struct op_combine {
	const struct routing *routing;
	size_t n;
	struct buffer in, out;          /* in: rows of places */
	int unweighted;                 /* the inputs were weighted, or nothing is */
	int adds;                       /* to out */
	const float *scale;             /* [experts], multiplies the weights; or NULL */
	struct buffer shared, gate;     /* at NULL: none; gate: a row's one logit, through sigmoid, in place of: */
	float scale_shared;
};

/* Bytes for the packed rows of `slots` slots, however they are divided among experts. */
size_t expert_acts_bytes(const struct kernels *k, enum acts_kind kind, size_t elements, size_t slots);

/* The place for n rows of expert or head e, `at` bytes after the first; returns the next place. */
size_t packed_place(const struct packed *p, const struct kernels *k, size_t e, size_t n, enum acts_kind kind,
	size_t at);

extern const struct op_kind op_route, op_route_adjugates, op_adapters, op_expert_rows, op_combine;

/* What one piece of prepare and of store is about: rows [from, to) of the batch, of one run, and a KV head. */
struct kv_rows {
	const struct run *run;
	size_t head, from, to;
};

size_t kv_rows_pieces(const struct op *op, const struct step *s);      /* pieces() of both */
struct kv_rows kv_rows_of(const struct op_attention *a, const struct step *s, size_t piece);

/* K and V of a KV head in the state. */
struct kv_head kv_head_of(const struct op_attention *a, const struct segment *state, size_t head);

#endif
