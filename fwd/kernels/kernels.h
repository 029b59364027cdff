/* kernels: the arithmetic of lmpipe, as one table of functions for each backend. spec/ is the specification, written to
 * be read. Every other backend gives the same bits, whatever the number of columns, the rows of a call or the thread.
 *
 * The rules:
 *
 * Sums. Element k of a sum goes to accumulator k mod 16, by fma where it is a sum of products. One tree closes the sum:
 * v[i] += v[i + 8] for i < 8, then 4, 2, 1.
 *
 * Float weights with float activations: weights (F32, F16, BF16) are widened exactly; the sum is over the elements.
 *
 * Quantised weights are widened, too, where activations stay floats, as in embedders: code · scale is rounded, then its
 * sum with the minimum; the sum is over the elements.
 *
 * BF16 weights with BF16 activations. Activations are rounded to BF16, to the nearest, ties to even. Rounded ones
 * below 2^-49, and weights below 2^-63, count as zero. So every product is a multiple of 2^-126, no sum is subnormal,
 * and instructions that flush subnormal numbers to zero give the same bits as those that do not. Of each 512 elements,
 * lane i takes elements 32·j + 2·i + 1 and 32·j + 2·i, in this order, by fma into one chain from zero for j = 0 to 7,
 * and into another for j = 8 to 15:
 *
 *	acc[i] = acc[i] + (chain[0] + chain[1])
 *
 * A vdpbf16ps is one step of such chains, and the two chains are those of a tdpbf16ps.
 *
 * Quantised weights otherwise. A row of activations is split into blocks of 32, each int8 with a float scale dx:
 * the best of eight candidate scales max|x| / (127 - i) by squared error, then fitted again to its integers
 * (spec/scalar_product.c). A block of 32 weights has one scale dw, or two, one for each half; a block may have a
 * minimum beside each scale. dw, the product of a super-block's scale and a sub-scale, is exact. isum is the exact
 * integer dot product of the elements that share a scale, xsum the sum of their activations:
 *
 *	t = 0;  t = fma(dw, (float)isum, t) for each scale;  t = fma(min, (float)xsum, t) for each minimum
 *	acc[b mod 16] = fma(dx, t, acc[b mod 16])                for block b
 *
 * Wide activations (Q16) are the same with integers from -32512 to 32512 and dx = max|x| / 32512. They are for the
 * inputs of q, k and v, whose errors the softmax magnifies (they caused half of the error of int8; measured). isum is
 * still an exact int32, rounded once by (float). The backend decides how to multiply them: as int16, or as two planes
 * of int8 with q = 255·hi + lo, hi and lo in [-127, 127].
 *
 * Every quantised type has this form, codebooks too: codes are integers of eight bits, so isum has less than 22 bits
 * with Q8; scales are floats whose product with 1.5·2^23 is exact (f16 times a small integer, powers of two and floats
 * of four bits). A kernel may therefore add that number to isum and take it away in the fma.
 *
 * A block of activations that holds an infinity or NaN has the scale NaN; so has a block of weights whose scale is
 * 2^100 or more (of MXFP4; other types have no such scales), infinite or NaN.
 *
 * Attention: see attend below. exp, silu and gelu are the polynomials of exp.h; square roots and divisions are
 * correctly rounded. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/system.h"
#include "lib/gguf/formats.h"
#include "lib/sampler/score.h"
#include "kv_type.h"

struct matrix {                 /* W[rows × cols], row-major in the mapping; borrowed */
	const struct format *format;
	const void *data;
	size_t rows, cols;      /* cols: a multiple of the format's block */
	size_t row_bytes;
};

/* Q8_I16: the integers of Q8 stored as int16, where a backend multiplies those faster. BF16_DOT
 * and BF16_TILES: the numbers of BF16 stored for products of pairs and of tiles. */
enum acts_kind { ACTS_F32, ACTS_Q8, ACTS_Q8_I16, ACTS_Q16, ACTS_BF16, ACTS_BF16_DOT, ACTS_BF16_TILES,
	ACTS_KINDS };

enum { ACTS_PART = 512 };        /* parts of columns begin at multiples of this */

/* Elements [e0, e1) of columns [c0, c1). e1 is a multiple of ACTS_PART, too, unless it is k. */
struct acts_part {
	size_t c0, c1, e0, e1;
};

/* A batch of activation columns, packed for products with one kind of weights. The backend defines the layout. */
struct acts {
	enum acts_kind kind;
	size_t k, n;            /* elements of a column; columns of this batch, at least 1 */
	uint64_t formats;       /* bit f: weights of format f are multiplied by them; 0: any may be */
	/* acts_bytes(kind, k, n) bytes, 64-byte aligned, the caller's; acts_pack() fills them */
	void *data;
};

enum { KERNELS_ROWS = 32 };     /* row ranges begin at multiples of this */

/* y[c·stride + r] = W[r] · x[c] for rows r in [r0, r1) and all columns c of x. */
struct product_job {
	const struct matrix *w;
	const struct acts *x;   /* of the kind that acts_kind() gives for W's format, or ACTS_F32 */
	size_t r0, r1;          /* r0 is a multiple of KERNELS_ROWS */
	float *y;
	size_t stride;          /* floats from one column of y to the next */
	void *scratch;          /* product_scratch(W's columns) bytes, 64-byte aligned, used by this call alone */
	int one_stream;         /* a hint: the CPU has SYSTEM_ONE_STREAM */
};

enum { ATTEND_BLOCK = KV_EXTENT };      /* positions of one attention block */
enum { ATTEND_RUN = 64 };       /* of codes: positions whose weights share a scale; a block is whole runs */
enum { ATTEND_FEW = 8 };        /* rows whose context several threads can share: at most this many */

/* Biases of scores by distance, for one head: element ATTEND_BIASES / 2 + d is for a key at distance d from the query,
 * negative before it. All distances beyond ATTEND_NEAR have the same bias, one for each direction; the margins let a
 * block read its biases as one array. */
enum { ATTEND_NEAR = 128, ATTEND_BIASES = 2 * (ATTEND_NEAR + ATTEND_BLOCK) };

struct attend {
	enum kv_type type;
	size_t dim_k, dim_v;
	size_t n_head, n_head_kv;       /* query head h reads KV head h / (n_head / n_head_kv) */
	float scale;                    /* score = (q · k) · scale */
	const float *q;                 /* [n][q_stride], head h at h·dim_k; already rotated */
	size_t q_stride;
	float *out;                     /* [n][n_head·dim_v] */
	size_t pos;                     /* of row 0; row i is at pos + i; all positions it sees are stored */

	/* What some families add; 0 or NULL: nothing. */
	size_t window;                  /* position p sees window positions: itself and those just before it; with
					 * `end`, those just after it, too, as many */
	size_t chunk;                   /* position p sees those of its own chunk: p / chunk */
	float cap;                      /* score = cap · tanh(score / cap), after scale */
	size_t first;                   /* no earlier position is seen; K and V there need not be stored */
	size_t end;                     /* each row sees the positions before this one; 0: up to its own */
	const float *slope;             /* [n_head]: score −= slope · |j − p| for a key at j (ALiBi), after cap */
	const float *bias;              /* [n_head][ATTEND_BIASES]: score += bias by distance, after slope */
	const float *sink;              /* [n_head]: the score of one more key, whose value is zero */
	int v_in_k;                     /* the value is the first dim_v elements of the key; V is not stored */
};

/* Elements of V in the cache. */
static inline size_t attend_stored_v(const struct attend *a)
{
	return a->v_in_k ? 0 : a->dim_v;
}

/* The first position that position p sees. */
static inline size_t attend_from(const struct attend *a, size_t p)
{
	size_t window = a->window && p >= a->window ? p + 1 - a->window : 0;
	size_t chunk = a->chunk ? p / a->chunk * a->chunk : 0, from = window > chunk ? window : chunk;

	return from > a->first ? from : a->first;
}

/* The position after the last that position p sees. */
static inline size_t attend_end(const struct attend *a, size_t p)
{
	size_t after = !a->end ? p + 1 : a->window ? p + a->window : a->end;

	return a->end && a->end < after ? a->end : after;
}

/* How many positions at the start of the block at `first` are seen by no row, whatever the windows. */
static inline size_t attend_unseen(const struct attend *a, size_t first)
{
	return a->first <= first ? 0 : a->first - first < ATTEND_BLOCK ? a->first - first : ATTEND_BLOCK;
}

/* The biases of this head for a query at p and the keys of the block at `first`. */
static inline const float *attend_biases(const struct attend *a, size_t head, size_t p, size_t first)
{
	const size_t far = ATTEND_NEAR + ATTEND_BLOCK;
	const float *at = a->bias + head * ATTEND_BIASES + ATTEND_BIASES / 2;

	if (first > p)
		return at + (first - p < ATTEND_NEAR ? first - p : ATTEND_NEAR);
	return at - (p - first < far ? p - first : far);
}

enum norm_kind { NORM_NONE, NORM_RMS, NORM_LAYER };

struct norm {
	enum norm_kind kind;
	const float *weight, *bias;     /* [n]; NULL: ones, zeros */
	float eps;
};

/* gelu: the tanh form; relu2: max(x, 0)²; softplus: ln(1 + e^x); swiglu_oai: in glu() alone (exp.h) */
enum unary { UNARY_SILU, UNARY_GELU, UNARY_RELU, UNARY_RELU2, UNARY_SIGMOID, UNARY_EXP, UNARY_SOFTPLUS, UNARIES,
	UNARY_SWIGLU_OAI = UNARIES };

/* x > 0: positive · x² + beta · x; else negative · (e^min(x, eps) − 1 − x) + beta · x (Huang and Schlag 2024) */
struct xielu {
	float positive, negative, beta, eps;
};

enum rope_pairs { ROPE_ADJACENT, ROPE_HALVES };

/* Products of small float matrices: y[rows × cols], a and b. */
struct chain_job {
	size_t rows, cols, n;
	const float *a, *b;
	size_t a_row, a_step;           /* a[r][i] = a[r·a_row + i·a_step] */
	size_t b_row, y_row;            /* floats from row to row */
	float *y;
};

struct kernels {
	const char *name;
	enum system_feature needs;      /* what the CPU must have */

	/* Products. acts_bytes(): for up to n columns of k elements; a larger k may need less, so for several k
	 * take the maximum. acts_pack() packs a part of a batch, from x[(c − c0)·stride + e] for element e of
	 * column c, so that threads can share the work. acts_together(): columns of a batch of n that one call has to
	 * pack; it divides acts_columns, whatever k and n are. c0 is a multiple of it, and so is c1 unless it is n. */
	size_t acts_columns;
	size_t (*acts_together)(enum acts_kind kind, size_t k, size_t n);
	size_t (*acts_bytes)(enum acts_kind kind, size_t k, size_t n);
	void (*acts_pack)(struct acts *a, const float *x, size_t stride, struct acts_part part);

	/* wide: the input of q, k and v: Q16 in place of Q8 */
	enum acts_kind (*acts_kind)(const struct format *format, int wide);
	int (*takes)(enum acts_kind kind);      /* whether this CPU can multiply them, even if slowly */
	size_t (*product_scratch)(size_t k);
	void (*product)(const struct product_job *job);

	/* y = (x · 1/sqrt(mean(x²) + eps)) · weight + bias; the layer form subtracts the mean first. y may be x. */
	void (*norm)(const struct norm *norm, const float *x, float *y, size_t n);
	void (*add)(float *y, const float *a, const float *b, size_t n);        /* y = a + b; y may be a */
	void (*add_scaled)(float *y, const float *x, float s, size_t n);        /* y = fma(s, x, y) */
	void (*scale)(float *y, const float *x, float s, size_t n);             /* y = s · x; y may be x */
	void (*multiply)(float *y, const float *a, const float *b, size_t n);   /* y = a · b; y may be a */
	void (*cap)(float *x, float cap, size_t n);             /* x = cap · tanh(x / cap) */
	void (*clamp)(float *x, float most, size_t n);          /* to [-most, most]; NaN becomes -most */
	/* x = max(x - t, 0), t the mean + deviations · the standard deviation of a sample; NaN becomes 0 */
	void (*sparsify)(float *x, float deviations, size_t n);
	/* y = f(gate) · up; y may be either */
	void (*glu)(enum unary f, float *y, const float *gate, const float *up, size_t n);
	void (*unary)(enum unary f, float *y, const float *x, size_t n);
	void (*xielu)(const struct xielu *f, float *y, const float *x, size_t n);

	/* y[i] = w[0][i] · x[0][i] + w[1][i] · x[1][i] + ... + bias[i] for i < n, in this order, each product
	 * rounded; taps is at least 1; bias NULL: none */
	void (*taps)(float *y, const float *const w[], const float *const x[], size_t taps, const float *bias,
	             size_t n);
	/* y[r][c] = fma(a[r][i], b[i][c], y[r][c]) for i < n, ascending */
	void (*chain)(const struct chain_job *job);
	/* y[r][c] = the sum of a[r][i] · b[c][i] over i < n; a_step is 1 */
	void (*dots)(const struct chain_job *job);

	/* score_part() of lib/sampler/score.h: block b of row[n_vocab] */
	void (*score)(const float *row, size_t n_vocab, int32_t id, size_t b, struct score_part *part);

	/* Rotates one head in place: n_rot/2 pairs, cos/sin[n_rot/2]. (a, b) becomes (a·c − b·s, a·s + b·c), computed
	 * as fma(a, c, −(b·s)) and fma(a, s, b·c). */
	void (*rope)(enum rope_pairs pairs, float *x, const float *cos, const float *sin, size_t n_rot);

	/* Stores k[dim_k] and v[dim_v] at position j of a block, rounded to the cache's type; attention reads the
	 * rounded values. Codes: k and v are first rotated in blocks of kv_rotated() elements: for apart = 1, 2, 4,
	 * ..., elements i and i + apart, where i lacks that bit, become their sum and their difference; then each is
	 * multiplied by 1 / sqrt(block).
	 * q8_0: 32 elements have the scale d = kv_scale(max|x|) and the codes nearest to x / d, ties to even, from -127
	 * to 127. q4_0: d is one of kv_steps, that of the least sum of e² (the first of several), e = fma(-d, n, x);
	 * n is x · (1 / d) rounded to nearest, ties to even, from -8 to 7, and n + 8 is the code. */
	void (*kv_store)(enum kv_type type, const struct kv_block *kv, size_t dim_k, size_t dim_v, size_t j,
	                 const float *k, const float *v);

	/* Rows [i0, i1), the query heads of this KV head. For each query, over the blocks of ATTEND_BLOCK positions
	 * that it sees any of (the last one ends at the last position that the query sees; where one begins before the
	 * first position that the query sees, s[j] = -inf there):
	 *     s[j] = sum(q · k[j]) · scale, capped and biased;  m_b = max s;  p[j] = exp(s[j] − m_b)
	 *     l_b = sum of p over j, element j to accumulator j mod 16
	 *     o_b[d] = fma(p[j], v[j][d], o_b[d]) for j ascending, from 0
	 * then, block by block (the first block's values are taken as they are):
	 *     m' = max(m, m_b);  a = exp(m − m');  c = exp(m_b − m')
	 *     l = fma(l, a, l_b·c);  o[d] = fma(o[d], a, o_b[d]·c);  m = m'
	 * then, where there is a sink: m' = max(m, sink);  a = exp(m − m');  l = fma(l, a, exp(sink − m'));  o = o·a
	 * and out = o / l.
	 * With K and V in codes, the sums over d and over j are of integers (isum, exact). q is rotated as K is, and
	 * quantised as activations (Q8) in groups of 32 elements, the last one filled up with zeros; the scale of a
	 * group is rounded to dx · scale:
	 *     s[j] = fma(dx, k_scale[j] · (float)isum, s[j]) for each group in turn, from 0; NaN if infinite
	 * For each run of ATTEND_RUN positions, and each group of V's elements, with top = 255 (q8_0) or 127 (q4_0):
	 *     w[j] = p[j] · v_scale[j], or 0 where p[j] is 0 or NaN;  max = max |w|
	 *     code[j] = w[j] · (top · (1 / max)) rounded to nearest, ties to even; 0 where w[j] is infinite
	 *     o_b[d] = fma(max · (1 / top), (float)isum, o_b[d]) for each run in turn, from 0
	 * Where max is below 2^-100 (ACTS_LEAST), the run counts as zeros. In the end out is rotated, as V was.
	 * scratch: attend_scratch() bytes, 64-byte aligned, of the calling thread alone. */
	size_t attend_rows;             /* row ranges begin at multiples of this */
	size_t (*attend_scratch)(size_t dim_k, size_t dim_v, size_t group);
	void (*attend)(const struct attend *a, const struct kv_head *kv, size_t i0, size_t i1, void *scratch);

	/* The same for rows [0, n), n up to ATTEND_FEW, in two steps, so that threads can share a long context.
	 * First blocks [b0, b1), each into a partial result of its own: m_b, l_b and o_b of its columns, the n · group
	 * queries of KV head h; block b's lies at partials + b · attend_partial(). Then, when those of all blocks are
	 * there, join merges them in order. partials: the caller's, 64-byte aligned; join overwrites them. */
	size_t (*attend_partial)(size_t dim_v, size_t columns);    /* bytes, a multiple of 64 */
	void (*attend_blocks)(const struct attend *a, const struct kv_head *kv, size_t n, size_t b0, size_t b1,
	                      void *partials, void *scratch);
	void (*attend_join)(const struct attend *a, size_t h, size_t n, void *partials, void *scratch);
};

/* The instruction sets of this architecture, the slowest first, each with what a CPU must have to run it. */
#if defined __x86_64__
#define KERNELS_ISAS(ROW) ROW(avx2, SYSTEM_AVX2) ROW(avx512, SYSTEM_AVX512)
#elif defined __aarch64__
#define KERNELS_ISAS(ROW) ROW(neon, SYSTEM_ANY) ROW(dotprod, SYSTEM_DOTPROD) ROW(i8mm, SYSTEM_I8MM)
#else
#define KERNELS_ISAS(ROW)
#endif

#define KERNELS_DECLARE(isa, feature) extern const struct kernels kernels_##isa;
KERNELS_DECLARE(scalar, SYSTEM_ANY)
KERNELS_ISAS(KERNELS_DECLARE)

/* For option tables: "avx2|avx512|". */
#define KERNELS_NAME(isa, feature) #isa "|"
#define KERNELS_NAMES KERNELS_ISAS(KERNELS_NAME)

/* By name ("scalar", or an instruction set's) or the best that this CPU runs ("auto"). NULL: no such table, or this CPU
 * cannot run it. */
const struct kernels *kernels_select(const char *name);

/* The i-th table that this CPU runs, scalar first, or NULL past the last. */
const struct kernels *kernels_each(size_t i);

#endif
