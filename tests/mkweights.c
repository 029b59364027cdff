/* mkweights: draws a small tensor value by value and quantises it. Fills a large one with blocks chosen at random from
 * a pool that is already quantised, so that a model of 600 million parameters takes a second or two. */
#include "mkweights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "mkparts.h"
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

void part_tensor(struct mkweights *k, const char *name, uint32_t type, const uint64_t dim[3], float mean, float sigma)
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
void part_matrices(struct mkweights *k, const char *name, char kind, const uint64_t dim[3], float gain)
{
	part_tensor(k, name, type_for(k, kind, (uint32_t)dim[0]), dim, 0, gain / sqrtf((float)dim[0]));
}

void part_matrix(struct mkweights *k, const char *name, char kind, uint32_t cols, uint32_t rows, float gain)
{
	part_matrices(k, name, kind, (uint64_t[3]){ cols, rows > 1 ? rows : 0 }, gain);
}

void part_vector(struct mkweights *k, const char *name, uint32_t n, float mean, float sigma)
{
	part_tensor(k, name, FORMAT_F32, (uint64_t[3]){ n }, mean, sigma);
}

/* blk.LAYER.PART.weight or .bias */
const char *part_name(uint32_t layer, const char *part, const char *what)
{
	static char name[64];

	snprintf(name, sizeof name, "blk.%u.%s.%s", layer, part, what);
	return name;
}

void part_bias(struct mkweights *k, uint32_t il, const char *part, uint32_t n, float sigma)
{
	part_vector(k, part_name(il, part, "bias"), n, 0, sigma);
}

void part_norm(struct mkweights *k, uint32_t il, const char *part)
{
	if (!*part)
		return;
	part_vector(k, part_name(il, part, "weight"), k->s.n_embd, 1, 0.1f);
	if (k->family->norm_bias)
		part_bias(k, il, part, k->s.n_embd, 0.1f);
}

/* Of each id: one after the other, from a random one on. */
static void choices(const void *context, uint64_t first, size_t n, void *to)
{
	const uint64_t *c = context;    /* seed, experts, used */
	int32_t *expert = to;

	for (size_t i = 0; i < n; i++)
		expert[i] = (int32_t)((mkrandom(c[0], (first + i) / c[2]) + (first + i) % c[2]) % c[1]);
}

void part_choices(struct mkweights *k, uint32_t il)
{
	const uint64_t context[] = { mkrandom(k->seed, k->n_tensors++), k->family->experts, k->family->used };

	mkgguf_tensor(k->m, part_name(il, "ffn_gate_tid2eid", "weight"), MKGGUF_I32,
		(uint64_t[3]){ k->family->used, k->s.n_vocab }, choices, context, sizeof context);
}

static void ones(const void *context, uint64_t first, size_t n, void *to)
{
	for (float *x = to; n--; x++)
		*x = 1;
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
	char last[64];

	/* a tied embedding is read as rows of variance 9 / n_embd, which as an output matrix gives logits of deviation
	 * 3 */
	part_tensor(k, k->family->no_embedding ? "output.weight" : "token_embd.weight",
		type_for(k, s->tied ? 's' : 'm', s->n_embd),
		(uint64_t[3]){ s->n_embd, s->n_vocab }, 0, s->tied ? 3 / sqrtf((float)s->n_embd) : 1);
	if (k->family->positions)
		part_tensor(k, "position_embd.weight", FORMAT_F32, (uint64_t[3]){ s->n_embd, s->n_ctx }, 0, 0.5f);
	if (part_has_mixer(k, 'r') || part_has_mixer(k, 'x')) {
		part_vector(k, "token_embd_norm.weight", s->n_embd, 1, 0.1f);
		part_vector(k, "token_embd_norm.bias", s->n_embd, 0, 0.1f);
	}
	if (k->family->embeds)
		mkembedders_whole(k);
	if (!strcmp(k->rope, "freqs"))
		mkgguf_tensor(k->m, "rope_freqs.weight", FORMAT_F32, (uint64_t[3]){ pairs }, rope_freqs, &pairs,
			sizeof pairs);
	else if (k->family->bare_freqs)
		mkgguf_tensor(k->m, "rope_freqs.weight", FORMAT_F32, (uint64_t[3]){ pairs }, ones, &pairs,
			sizeof pairs);
	if (k->family->per_layer)
		mkstreams_whole(k);
	if (k->family->ngrams)
		mkstreams_ngram_table(k);
	if (k->family->blocks)
		part_vector(k, "hrm.z_l_init", s->n_embd, 0, 1);
	if (k->family->decoders || k->family->encodes)
		mkencoder_layers(k);
	else
		for (uint32_t il = 0; il < (k->family->blocks ? k->family->blocks : s->n_layer); il++)
			mklayers_one(k, il);
	if (k->family->residuals == 1)
		part_vector(k, "output_res_score.weight", s->n_embd, 0, 0.1f);
	if (k->family->hyper && !k->family->stream_mean)
		mkstreams_hyper(k, UINT32_MAX, "output_hc", 1);
	snprintf(last, sizeof last, "%s.weight", k->family->last_norm ? k->family->last_norm : "output_norm");
	if (!k->family->last_norm || *k->family->last_norm)
		part_vector(k, last, s->n_embd, 1, 0.1f);
	if (k->family->norm_bias && !(k->family->last_norm && !*k->family->last_norm))
		part_vector(k, "output_norm.bias", s->n_embd, 0, 0.1f);
	if (!s->tied && !k->family->no_embedding && k->family->embeds < 2)
		part_matrix(k, "output.weight", 's', s->n_embd, s->n_vocab, 3);
	if (k->family->logits_bias)
		part_vector(k, "output.bias", s->n_vocab, 0, 0.5f);
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
