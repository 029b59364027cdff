/* mkweights: draws a small tensor value by value and quantises it. Fills a large one with blocks chosen at random from
 * a pool that is already quantised, so that a model of 600 million parameters takes a second or two. */
#include "mkweights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "mkrandom.h"
#include "quantise.h"

enum { POOL_FROM = 1 << 18, POOL_UNIT = 256 };  /* elements: tensors from this size on come from the pool, in units */

static const struct mkshape shapes[] = {
	{ "tiny", "llama", "llama-bpe", 64, 2, 4, 2, 16, 96, 320, 256, 10000, 0 },
	{ "tiny256", "llama", "llama-bpe", 256, 2, 4, 2, 64, 512, 320, 256, 10000, 0 },
	{ "smol-135m", "llama", "smollm", 576, 30, 9, 3, 64, 1536, 49152, 8192, 100000, 1 },
	{ "qwen3-0.6b", "qwen3", "qwen2", 1024, 28, 16, 8, 128, 3072, 151936, 40960, 1000000, 1 },
	{ "llama-1b", "llama", "llama-bpe", 2048, 16, 32, 8, 64, 8192, 128256, 131072, 500000, 1 },
};

const struct mkshape *mkweights_shape(const char *name)
{
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	return NULL;
}

struct weight {                 /* the distribution of a tensor's values */
	uint64_t seed;
	uint32_t type;
	float mean, sigma;
	const unsigned char *pool;      /* MKGGUF_CHUNK elements of the same, or NULL */
};

struct mkpool {
	struct weight of;
	unsigned char *blocks;
	struct mkpool *next;
};

/* Values [first, first + n). Each is a sum of four 16-bit random numbers, which is close to a normal distribution, and
 * is exact up to the multiplication at the end. */
static void draw(const struct weight *w, uint64_t first, size_t n, float *x)
{
	float unit = w->sigma / 37837.0f;       /* the sum's standard deviation is 65536 / sqrt(3) */

	for (size_t i = 0; i < n; i++) {
		uint64_t r = mkrandom(w->seed, first + i);
		int32_t sum = (int32_t)((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48)) - 131070;

		x[i] = w->mean + unit * (float)sum;
	}
}

static void fill(const void *context, uint64_t first, size_t n, void *to)
{
	const struct weight *w = context;
	const struct format *f = format_of(w->type);
	float *x;

	if (w->pool) {
		size_t unit = POOL_UNIT / f->block * f->bytes, units = MKGGUF_CHUNK / POOL_UNIT;

		for (size_t i = 0; i < n; i += POOL_UNIT) {
			size_t elements = n - i < POOL_UNIT ? n - i : POOL_UNIT;
			size_t from = mkrandom(w->seed, (first + i) / POOL_UNIT) % units;

			memcpy((unsigned char *)to + i / f->block * f->bytes, w->pool + from * unit,
				elements / f->block * f->bytes);
		}
		return;
	}
	if (!(x = malloc(n * sizeof *x))) {
		fprintf(stderr, "mkweights: out of memory\n");
		exit(1);
	}
	draw(w, first, n, x);
	quantise(w->type, x, to, n);
	free(x);
}

/* The pool for weights like w, built at its first use. */
static const unsigned char *pool_for(struct mkweights *k, const struct weight *w)
{
	const struct format *f = format_of(w->type);
	struct mkpool *p;

	for (p = k->pools; p; p = p->next)
		if (p->of.type == w->type && p->of.mean == w->mean && p->of.sigma == w->sigma)
			return p->blocks;
	p = malloc(sizeof *p);
	if (!p || !(p->blocks = malloc(MKGGUF_CHUNK / f->block * f->bytes))) {
		fprintf(stderr, "mkweights: out of memory\n");
		exit(1);
	}
	p->of = *w;
	p->next = k->pools;
	k->pools = p;
	fill(w, 0, MKGGUF_CHUNK, p->blocks);
	return p->blocks;
}

static void tensor(struct mkweights *k, const char *name, uint32_t type, const uint64_t dim[3], float mean, float sigma)
{
	struct weight w = { mkrandom(k->seed, k->n_tensors++), type, mean, sigma, NULL };

	if (dim[0] * (dim[1] ? dim[1] : 1) * (dim[2] ? dim[2] : 1) >= POOL_FROM)
		w.pool = pool_for(k, &w);
	mkgguf_tensor(k->m, name, type, dim, fill, &w, sizeof w);
}

/* ---- which type a matrix gets ---- */

static const char *const mixes[][3] = {         /* name, most matrices, the more sensitive ones */
	{ "Q4_K_M", "Q4_K", "Q6_K" }, { "Q5_K_M", "Q5_K", "Q6_K" }, { "Q3_K_M", "Q3_K", "Q5_K" },
};

static uint32_t type_named(const char *name)
{
	const struct format *f;

	for (size_t i = 0; (f = format_each(i)); i++)
		if (!strcmp(f->name, name) && quantise(f->id, NULL, NULL, 0) == 0)
			return f->id;
	return UINT32_MAX;
}

/* A type whose block size does not divide the row falls back, as in files of the smallest real models: to a type of
 * similar size with blocks of 32, then to F16. */
static uint32_t fitting(uint32_t type, uint32_t cols)
{
	if (cols % format_of(type)->block && format_of(type)->block == 256)
		type = type == FORMAT_Q6_K ? FORMAT_Q8_0 : type == FORMAT_Q5_K ? FORMAT_Q5_1 : FORMAT_Q5_0;
	return cols % format_of(type)->block ? FORMAT_F16 : type;
}

/* kind: 's' for matrices that a mix stores more precisely (the output; ffn_down and attn_v of certain layers), 'm' for
 * the rest. */
static uint32_t type_for(const struct mkweights *k, char kind, uint32_t cols)
{
	static const char *const every[] = {
		"Q4_K", "Q8_0", "F16", "Q6_K", "Q5_1", "Q4_0", "BF16", "Q5_K", "Q4_1", "Q5_0", "F32"
	};

	if (!strcmp(k->type, "mix"))
		return fitting(type_named(every[k->n_tensors % (sizeof every / sizeof *every)]), cols);
	for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
		if (!strcmp(mixes[i][0], k->type))
			return fitting(type_named(mixes[i][kind == 's' ? 2 : 1]), cols);
	return fitting(type_named(k->type), cols);
}

int mkweights_type_known(const char *type)
{
	for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
		if (!strcmp(mixes[i][0], type))
			return 1;
	return !strcmp(type, "mix") || type_named(type) != UINT32_MAX;
}

/* ---- the parts of a model ---- */

/* n of them, one after the other; 0: a single one */
static void matrices(struct mkweights *k, const char *name, char kind, const uint64_t dim[3], float gain)
{
	tensor(k, name, type_for(k, kind, (uint32_t)dim[0]), dim, 0, gain / sqrtf((float)dim[0]));
}

static void matrix(struct mkweights *k, const char *name, char kind, uint32_t cols, uint32_t rows, float gain)
{
	matrices(k, name, kind, (uint64_t[3]){ cols, rows > 1 ? rows : 0 }, gain);
}

static void vector(struct mkweights *k, const char *name, uint32_t n, float mean, float sigma)
{
	tensor(k, name, FORMAT_F32, (uint64_t[3]){ n }, mean, sigma);
}

/* blk.LAYER.PART.weight or .bias */
static const char *blk(uint32_t layer, const char *part, const char *what)
{
	static char name[64];

	snprintf(name, sizeof name, "blk.%u.%s.%s", layer, part, what);
	return name;
}

static void bias(struct mkweights *k, uint32_t il, const char *part, uint32_t n, float sigma)
{
	vector(k, blk(il, part, "bias"), n, 0, sigma);
}

static void norm(struct mkweights *k, uint32_t il, const char *part)
{
	if (!*part)
		return;
	vector(k, blk(il, part, "weight"), k->s.n_embd, 1, 0.1f);
	if (k->family->norm_bias)
		bias(k, il, part, k->s.n_embd, 0.1f);
}

/* Matrices of attn_v and ffn_down are stored more precisely in certain layers. */
static char precise(const struct mkshape *s, uint32_t il)
{
	return il < s->n_layer / 8 || il >= 7 * s->n_layer / 8 || il % 3 == 2 ? 's' : 'm';
}

static int has_mixer(const struct mkweights *k, char c)
{
	return k->family->mixers && strchr(k->family->mixers, c);
}

static void qkv(struct mkweights *k, uint32_t il)
{
	const struct mkshape *s = &k->s;
	uint32_t n_q = s->n_head * s->head_dim, n_kv = s->n_head_kv * s->head_dim;

	if (k->family->fused_qkv) {
		matrix(k, blk(il, "attn_qkv", "weight"), 'm', s->n_embd, n_q + 2 * n_kv, 1.3f);
		if (k->family->qkv_bias)
			bias(k, il, "attn_qkv", n_q + 2 * n_kv, 0.1f);
		return;
	}
	matrix(k, blk(il, "attn_q", "weight"), 'm', s->n_embd, has_mixer(k, 'd') ? 2 * n_q : n_q, 1.3f);
	matrix(k, blk(il, "attn_k", "weight"), 'm', s->n_embd, n_kv, 1.3f);
	matrix(k, blk(il, "attn_v", "weight"), precise(s, il), s->n_embd, n_kv, 1);
	if (k->family->qkv_bias) {
		bias(k, il, "attn_q", n_q, 0.5f);
		bias(k, il, "attn_k", n_kv, 0.5f);
		bias(k, il, "attn_v", n_kv, 0.1f);
	}
}

static void head_norm(struct mkweights *k, uint32_t il, const char *part, uint32_t heads)
{
	uint32_t d = k->s.head_dim;

	switch (k->family->heads) {
	case MKHEADS_PLAIN: return;
	case MKHEADS_ONE: vector(k, blk(il, part, "weight"), d, 1.2f, 0.1f); return;
	case MKHEADS_ALL: vector(k, blk(il, part, "weight"), heads * d, 1.2f, 0.1f); return;
	case MKHEADS_ROWS:
		tensor(k, blk(il, part, "weight"), FORMAT_F32, (uint64_t[3]){ d, heads }, 1.2f, 0.1f);
	}
}

/* ---- layers ---- */

static char mixer_of(const struct mkweights *k, uint32_t il)
{
	const char *mixers = k->family->mixers ? k->family->mixers : "a";

	return mixers[il % strlen(mixers)];
}

static int has_attention(const struct mkweights *k, uint32_t il)
{
	return mixer_of(k, il) == 'a' || mixer_of(k, il) == 'b';
}

static int has_state_space(const struct mkweights *k, uint32_t il)
{
	return mixer_of(k, il) == 'm' || mixer_of(k, il) == 'b';
}

static int has_feed_forward(const struct mkweights *k, uint32_t il)
{
	return !k->family->single || mixer_of(k, il) == '-';
}

static void attention(struct mkweights *k, uint32_t il)
{
	const struct mkshape *s = &k->s;

	qkv(k, il);
	if (k->family->sinks)
		vector(k, blk(il, "attn_sinks", "weight"), s->n_head, 0, 1);
	matrix(k, blk(il, "attn_output", "weight"), 'm', s->n_head * s->head_dim, s->n_embd, 1);
	if (k->family->out_bias)
		bias(k, il, "attn_output", s->n_embd, 0.1f);
	head_norm(k, il, "attn_q_norm", s->n_head);
	head_norm(k, il, "attn_k_norm", s->n_head_kv);
}

enum { TAPS = 4 };

/* Of Mamba 2: heads of head_dim values, twice as many keys, two groups. Of a delta net: heads like those of attention. */
struct state_space {
	uint32_t inner, heads, state, groups;
};

static struct state_space state_space_of(const struct mkweights *k)
{
	const struct mkshape *s = &k->s;

	if (has_mixer(k, 'd'))
		return (struct state_space){ .inner = s->n_head * s->head_dim, .heads = s->n_head,
			.state = s->head_dim, .groups = s->n_head_kv };
	return (struct state_space){ .inner = 2 * s->n_embd, .heads = 2 * s->n_embd / s->head_dim,
		.state = 2 * s->head_dim, .groups = 2 };
}

/* Half-lives from one position to some hundreds. */
static void state_space(struct mkweights *k, uint32_t il)
{
	struct state_space p = state_space_of(k);
	uint32_t channels = p.inner + 2 * p.groups * p.state;
	char a[64], d[64];

	snprintf(a, sizeof a, "blk.%u.ssm_a", il);
	snprintf(d, sizeof d, "blk.%u.ssm_d", il);
	matrix(k, blk(il, "ssm_in", "weight"), 'm', k->s.n_embd, p.inner + channels + p.heads, 1);
	tensor(k, blk(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, channels }, 0, 0.7f);
	bias(k, il, "ssm_conv1d", channels, 0.1f);
	vector(k, blk(il, "ssm_dt", "bias"), p.heads, -3, 1);
	tensor(k, a, FORMAT_F32, (uint64_t[3]){ 1, p.heads }, -1, 0.25f);
	tensor(k, d, FORMAT_F32, (uint64_t[3]){ 1, p.heads }, 1, 0.2f);
	tensor(k, blk(il, "ssm_norm", "weight"), FORMAT_F32, (uint64_t[3]){ p.inner / p.groups, p.groups }, 1, 0.1f);
	matrix(k, blk(il, "ssm_out", "weight"), 'm', p.inner, k->s.n_embd, 1);
}

static void delta_net(struct mkweights *k, uint32_t il)
{
	struct state_space p = state_space_of(k);
	uint32_t n = k->s.n_embd, channels = p.inner + 2 * p.groups * p.state;
	char a[64];

	matrix(k, blk(il, "attn_qkv", "weight"), 'm', n, channels, 1);
	matrix(k, blk(il, "attn_gate", "weight"), 'm', n, p.inner, 1);
	if (k->family->fused_decay)
		matrix(k, blk(il, "ssm_ba", "weight"), 'm', n, 2 * p.heads, 1);
	else {
		matrix(k, blk(il, "ssm_beta", "weight"), 'm', n, p.heads, 1);
		matrix(k, blk(il, "ssm_alpha", "weight"), 'm', n, p.heads, 1);
	}
	tensor(k, blk(il, "ssm_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS, channels }, 0, 0.7f);
	vector(k, blk(il, "ssm_dt", "bias"), p.heads, -3, 1);
	snprintf(a, sizeof a, "blk.%u.ssm_a", il);
	vector(k, a, p.heads, -1, 0.25f);
	vector(k, blk(il, "ssm_norm", "weight"), p.state, 1, 0.1f);
	matrix(k, blk(il, "ssm_out", "weight"), 'm', p.inner, n, 1);
}

static void convolution(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd;

	matrix(k, blk(il, "shortconv.in_proj", "weight"), 'm', n, 3 * n, 1);
	tensor(k, blk(il, "shortconv.conv", "weight"), FORMAT_F32, (uint64_t[3]){ TAPS - 1, n }, 0, 0.7f);
	matrix(k, blk(il, "shortconv.out_proj", "weight"), 'm', n, n, 1);
}

static void feed_forward(struct mkweights *k, uint32_t il)
{
	const struct mkfamily *f = k->family;
	uint32_t n_embd = k->s.n_embd, n_ff = k->s.n_ff;

	if (!f->ungated && !f->fused_gate)
		matrix(k, blk(il, "ffn_gate", "weight"), 'm', n_embd, n_ff, 1.5f);
	matrix(k, blk(il, "ffn_up", "weight"), 'm', n_embd, f->fused_gate ? 2 * n_ff : n_ff, f->ungated ? 1.5f : 1);
	if (f->ff_bias)
		bias(k, il, "ffn_up", n_ff, 0.1f);
	matrix(k, blk(il, "ffn_down", "weight"), f->ungated ? 's' : precise(&k->s, il), n_ff, n_embd, 1.5f);
	if (f->ff_bias)
		bias(k, il, "ffn_down", n_embd, 0.1f);
}

/* PART of all experts, of cols × rows each */
static void expert(struct mkweights *k, uint32_t il, const char *part, uint32_t cols, uint32_t rows)
{
	uint64_t n = k->family->experts;

	matrices(k, blk(il, part, "weight"), 'm', (uint64_t[3]){ cols, rows, n }, 1.5f);
	if (k->family->expert_bias)
		tensor(k, blk(il, part, "bias"), FORMAT_F32, (uint64_t[3]){ rows, n }, 0, 0.3f);
}

/* Of one expert: rows that super-blocks divide, where n_ff has two of them. */
static uint32_t expert_ff(const struct mkweights *k)
{
	return k->s.n_ff / 2;
}

static void mixture(struct mkweights *k, uint32_t il)
{
	const struct mkfamily *f = k->family;
	uint32_t n_embd = k->s.n_embd, n_ff = expert_ff(k);

	tensor(k, blk(il, "ffn_gate_inp", "weight"), FORMAT_F32, (uint64_t[3]){ n_embd, f->experts }, 0,
		2 / sqrtf((float)n_embd));
	if (f->expert_bias)
		bias(k, il, "ffn_gate_inp", f->experts, 0.5f);
	if (f->choice_bias)
		bias(k, il, "exp_probs_b", f->experts, 0.3f);
	expert(k, il, "ffn_gate_exps", n_embd, n_ff);
	expert(k, il, "ffn_up_exps", n_embd, n_ff);
	expert(k, il, "ffn_down_exps", n_ff, n_embd);
	if (!f->shared)
		return;
	if (f->shared_gate)
		vector(k, blk(il, "ffn_gate_inp_shexp", "weight"), n_embd, 0, 1 / sqrtf((float)n_embd));
	matrix(k, blk(il, "ffn_gate_shexp", "weight"), 'm', n_embd, n_ff, 1.5f);
	matrix(k, blk(il, "ffn_up_shexp", "weight"), 'm', n_embd, n_ff, 1);
	matrix(k, blk(il, "ffn_down_shexp", "weight"), 'm', n_ff, n_embd, 1.5f);
}

static void layer(struct mkweights *k, uint32_t il)
{
	const struct mkfamily *f = k->family;

	char bare[64];

	norm(k, il, f->norm1 ? f->norm1 : "attn_norm");
	if (has_state_space(k, il))
		state_space(k, il);
	if (mixer_of(k, il) == 'd')
		delta_net(k, il);
	if (mixer_of(k, il) == 'c')
		convolution(k, il);
	if (has_attention(k, il))
		attention(k, il);
	if (f->post_norms)
		norm(k, il, "post_attention_norm");
	snprintf(bare, sizeof bare, "blk.%u.ffn_norm", il);
	if (f->bare_norm2)
		vector(k, bare, k->s.n_embd, 1, 0.1f);
	else if (!f->single)
		norm(k, il, f->norm2 ? f->norm2 : "ffn_norm");
	if (!has_feed_forward(k, il))
		return;
	(f->experts && il >= f->dense ? mixture : feed_forward)(k, il);
	if (f->post_norms)
		norm(k, il, "post_ffw_norm");
}

/* In the shape of Llama 3's rope_freqs: 1 for the fast pairs, up to 8 for the slow ones. */
static void rope_freqs(const void *context, uint64_t first, size_t n, void *to)
{
	const uint32_t *pairs = context;
	float x[1 << 11]; /* head_dim is at most twice that */

	for (size_t i = 0; i < n; i++)
		x[i] = 2 * i < *pairs ? 1 : 1 + 7 * (float)(2 * i - *pairs + 2) / (float)(*pairs + 2);
	quantise(FORMAT_F32, x, to, n);
}

void mkweights_tensors(struct mkweights *k)
{
	const struct mkshape *s = &k->s;
	uint32_t pairs = s->head_dim / 2;
	char norm[64];

	/* a tied embedding is read as rows of variance 9 / n_embd, which as an output matrix gives logits of deviation
	 * 3 */
	tensor(k, "token_embd.weight", type_for(k, s->tied ? 's' : 'm', s->n_embd),
		(uint64_t[3]){ s->n_embd, s->n_vocab }, 0, s->tied ? 3 / sqrtf((float)s->n_embd) : 1);
	if (k->family->positions)
		tensor(k, "position_embd.weight", FORMAT_F32, (uint64_t[3]){ s->n_embd, s->n_ctx }, 0, 0.5f);
	if (!strcmp(k->rope, "freqs"))
		mkgguf_tensor(k->m, "rope_freqs.weight", FORMAT_F32, (uint64_t[3]){ pairs }, rope_freqs, &pairs,
			sizeof pairs);
	for (uint32_t il = 0; il < s->n_layer; il++)
		layer(k, il);
	snprintf(norm, sizeof norm, "%s.weight", k->family->last_norm ? k->family->last_norm : "output_norm");
	vector(k, norm, s->n_embd, 1, 0.1f);
	if (k->family->norm_bias)
		vector(k, "output_norm.bias", s->n_embd, 0, 0.1f);
	if (!s->tied)
		matrix(k, "output.weight", 's', s->n_embd, s->n_vocab, 3);
	if (k->family->logits_bias)
		vector(k, "output.bias", s->n_vocab, 0, 0.5f);
}

/* ARCH.KEY */
static const char *arch_key(const struct mkweights *k, const char *key)
{
	static char name[96];

	snprintf(name, sizeof name, "%s.%s", k->family->arch ? k->family->arch : k->family->name, key);
	return name;
}

static void rope_values(struct mkweights *k)
{
	const struct mkshape *s = &k->s;
	uint32_t share = k->family->unrotated_share ? (uint32_t)k->family->unrotated_share : 1;

	mkgguf_f32(k->m, arch_key(k, "rope.freq_base"), s->rope_base);
	mkgguf_u32(k->m, arch_key(k, "rope.dimension_count"), s->head_dim / share);
	if (!strcmp(k->rope, "linear") || !strcmp(k->rope, "yarn")) {
		mkgguf_text(k->m, arch_key(k, "rope.scaling.type"), k->rope);
		mkgguf_f32(k->m, arch_key(k, "rope.scaling.factor"), 4);
		if (!strcmp(k->rope, "yarn"))
			mkgguf_u32(k->m, arch_key(k, "rope.scaling.original_context_length"), s->n_ctx / 4);
	}
}

static void expert_values(struct mkweights *k)
{
	const struct mkfamily *f = k->family;

	mkgguf_u32(k->m, arch_key(k, "expert_count"), f->experts);
	mkgguf_u32(k->m, arch_key(k, "expert_used_count"), f->used);
	mkgguf_u32(k->m, arch_key(k, "expert_feed_forward_length"), expert_ff(k));
	mkgguf_u32(k->m, arch_key(k, "expert_shared_feed_forward_length"), f->shared ? expert_ff(k) : 0);
	mkgguf_u32(k->m, arch_key(k, "leading_dense_block_count"), f->dense);
}

/* A number for each layer: n, or 0. */
static void by_layer(struct mkweights *k, const char *key, uint32_t n, int has(const struct mkweights *, uint32_t))
{
	mkgguf_array(k->m, arch_key(k, key), GGUF_I32, k->s.n_layer);
	for (uint32_t il = 0; il < k->s.n_layer; il++)
		mkgguf_add_i32(k->m, has(k, il) ? (int32_t)n : 0);
}

static void mixer_values(struct mkweights *k)
{
	struct state_space p = state_space_of(k);

	if (has_mixer(k, 'd')) {
		mkgguf_u32(k->m, arch_key(k, "attention.head_count_kv"), k->s.n_head_kv);
		mkgguf_u32(k->m, arch_key(k, "full_attention_interval"), (uint32_t)strlen(k->family->mixers));
	} else
		by_layer(k, "attention.head_count_kv", k->s.n_head_kv, has_attention);
	if (has_mixer(k, 'c')) {
		mkgguf_u32(k->m, arch_key(k, "shortconv.l_cache"), TAPS - 1);
		return;
	}
	mkgguf_u32(k->m, arch_key(k, "ssm.conv_kernel"), TAPS);
	mkgguf_u32(k->m, arch_key(k, "ssm.inner_size"), p.inner);
	mkgguf_u32(k->m, arch_key(k, "ssm.state_size"), p.state);
	mkgguf_u32(k->m, arch_key(k, "ssm.time_step_rank"), p.heads);
	mkgguf_u32(k->m, arch_key(k, "ssm.group_count"), p.groups);
}

void mkweights_values(struct mkweights *k)
{
	struct mkshape *s = &k->s;
	const struct mkfamily *f = k->family = mkfamilies_named(s->arch);

	mkgguf_text(k->m, "general.architecture", f->arch ? f->arch : f->name);
	mkgguf_text(k->m, "general.name", "random");
	mkgguf_u32(k->m, arch_key(k, "context_length"), s->n_ctx);
	mkgguf_u32(k->m, arch_key(k, "embedding_length"), s->n_embd);
	mkgguf_u32(k->m, arch_key(k, "block_count"), s->n_layer);
	if (f->single)
		by_layer(k, "feed_forward_length", s->n_ff, has_feed_forward);
	else
		mkgguf_u32(k->m, arch_key(k, "feed_forward_length"), s->n_ff);
	mkgguf_u32(k->m, arch_key(k, "attention.head_count"), s->n_head);
	if (f->mixers)
		mixer_values(k);
	else
		mkgguf_u32(k->m, arch_key(k, "attention.head_count_kv"), s->n_head_kv);
	mkgguf_f32(k->m, arch_key(k, f->layer_norm ? "attention.layer_norm_epsilon"
		: "attention.layer_norm_rms_epsilon"), 1e-5f);
	if (s->head_dim * s->n_head != s->n_embd || f->heads == MKHEADS_ONE) {
		mkgguf_u32(k->m, arch_key(k, "attention.key_length"), s->head_dim);
		mkgguf_u32(k->m, arch_key(k, "attention.value_length"), s->head_dim);
	}
	if (!f->unrotated)
		rope_values(k);
	if (f->experts)
		expert_values(k);
	mkfamilies_keys(f, k->m);
}

void mkweights_free(struct mkweights *k)
{
	while (k->pools) {
		struct mkpool *next = k->pools->next;

		free(k->pools->blocks);
		free(k->pools);
		k->pools = next;
	}
}
