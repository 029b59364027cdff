/* mkparts: what the files that declare a model's tensors and keys share. Of names, "blk.N." and ".weight" are added by
 * part_name(); kind: see type_for() in mkweights.c. */
#ifndef MKPARTS_H
#define MKPARTS_H

#include <string.h>

#include "mkweights.h"

/* blk.LAYER.PART.WHAT, valid until the next call */

/* blk.LAYER.PART.WHAT, valid until the next call */
const char *part_name(uint32_t layer, const char *part, const char *what);

/* A tensor of a type; a matrix, or n of them one after the other (dim[2]; 0: a single one), of the model's type, with a
 * standard deviation of gain / √cols; a vector of floats. */
void part_tensor(struct mkweights *k, const char *name, uint32_t type, const uint64_t dim[3], float mean, float sigma);
void part_matrices(struct mkweights *k, const char *name, char kind, const uint64_t dim[3], float gain);
void part_matrix(struct mkweights *k, const char *name, char kind, uint32_t cols, uint32_t rows, float gain);
void part_vector(struct mkweights *k, const char *name, uint32_t n, float mean, float sigma);

/* The experts of each id in layer il. */
void part_choices(struct mkweights *k, uint32_t il);

/* PART.bias and PART.weight of layer il; "": nothing */
void part_bias(struct mkweights *k, uint32_t il, const char *part, uint32_t n, float sigma);
void part_norm(struct mkweights *k, uint32_t il, const char *part);

/* ---- mklayers.c ---- */

enum { ADAPTER_RANK = 32 };

void mklayers_one(struct mkweights *k, uint32_t il);

/* ---- mkmixers.c ---- */

enum { TAPS = 4 };              /* of convolutions; short ones have one less */

/* Of Mamba 2: heads of head_dim values, twice as many keys, two groups. Of a delta net: heads as in attention. */
struct state_space {
	uint32_t inner, heads, state, groups;
};

/* Of Mamba: the elements of the step before its last matrix; of RWKV 7: between the two matrices of w, a, v and g. */
struct low_ranks {
	uint32_t step, w, a, v, g;
};

static inline struct low_ranks part_ranks(const struct mkweights *k)
{
	uint32_t n = k->s.n_embd;

	return (struct low_ranks){ .step = n / 16, .w = n / 8, .a = n / 8 + 1, .v = n / 16, .g = n / 4 };
}

struct state_space part_state_space(const struct mkweights *k);

void mkmixers_state_space(struct mkweights *k, uint32_t il);
/* Mamba; RWKV 7's two parts of a layer. */
void mkmixers_plamo2(struct mkweights *k, uint32_t il);
void mkmixers_lightning(struct mkweights *k, uint32_t il);
void mkmixers_scan(struct mkweights *k, uint32_t il);
void mkmixers_time_mix(struct mkweights *k, uint32_t il);
void mkmixers_channel_mix(struct mkweights *k, uint32_t il);
void mkmixers_time_mix6(struct mkweights *k, uint32_t il);
void mkmixers_channel_mix6(struct mkweights *k, uint32_t il);
void mkmixers_delta_net(struct mkweights *k, uint32_t il);
void mkmixers_kda(struct mkweights *k, uint32_t il);
void mkmixers_convolution(struct mkweights *k, uint32_t il);

/* Latent attention. */
struct latent_sizes {
	uint32_t rank, rank_q, nope, rope, v;
};

struct latent_sizes part_latent(const struct mkweights *k, int sliding);

/* Of the indexer: heads, elements of one, positions that it chooses; of that of blocks: heads. */
enum { INDEXER_HEADS = 8, INDEXER_DIM = 64, INDEXER_TOP = 6, BLOCK_HEADS = 2 };
void mkmixers_latent(struct mkweights *k, uint32_t il);

/* ---- mkencoder.c: the keys of a model with an encoder; the layers of both stacks ---- */

enum { MKENCODER_BUCKETS = 10 };

void mkencoder_values(struct mkweights *k);
void mkencoder_layers(struct mkweights *k);

/* ---- mkembedders.c: keys; what a model that makes embeddings has besides its layers ---- */

void mkembedders_values(struct mkweights *k);
void mkembedders_whole(struct mkweights *k);

/* ---- mkcompressed.c: compressed attention: keys; tensors of layer il ---- */

void mkcompressed_values(struct mkweights *k);
void mkcompressed_attention(struct mkweights *k, uint32_t il);

/* ---- mkstreams.c: Gemma 3n and 4 ---- */

/* What the whole model has for them; and what layer il has for its own input and its streams. */
void mkstreams_whole(struct mkweights *k);
void mkstreams_layer(struct mkweights *k, uint32_t il);

/* Hyper-connections of a part of layer il, or of the head (il UINT32_MAX): tensors PART_*, of so many weights for each
 * stream; 3: two, and a matrix of the streams. */
void mkstreams_hyper(struct mkweights *k, uint32_t il, const char *part, uint32_t shares);

/* Embeddings of n-grams: keys, the table, and what the layer that adds them has. */
void mkstreams_ngram_values(struct mkweights *k);
void mkstreams_ngram_table(struct mkweights *k);
void mkstreams_ngrams(struct mkweights *k, uint32_t il);

/* ---- what layers have ---- */

static inline char part_mixer_of(const struct mkweights *k, uint32_t il)
{
	const char *mixers = k->family->mixers ? k->family->mixers : "a";

	return mixers[il % strlen(mixers)];
}

static inline int part_has_mixer(const struct mkweights *k, char c)
{
	return k->family->mixers && strchr(k->family->mixers, c);
}

static inline int part_has_attention(const struct mkweights *k, uint32_t il)
{
	return part_mixer_of(k, il) == 'a' || part_mixer_of(k, il) == 'b';
}

static inline int part_has_state_space(const struct mkweights *k, uint32_t il)
{
	return part_mixer_of(k, il) == 'm' || part_mixer_of(k, il) == 'b';
}

static inline int part_has_feed_forward(const struct mkweights *k, uint32_t il)
{
	return !k->family->single || part_mixer_of(k, il) == '-';
}

static inline int part_slides(const struct mkweights *k, uint32_t il)
{
	return k->family->period && il % k->family->period < k->family->period - 1;
}

/* The shape as layer il has it. */
static inline struct mkshape part_shape(const struct mkweights *k, uint32_t il)
{
	struct mkshape s = k->s;

	if (k->family->uneven) {
		s.n_head_kv = 1 + il % 3;
		s.n_head = 2 * s.n_head_kv;
		s.n_ff = s.n_ff / 3 * (1 + il % 3);
		s.n_head = part_mixer_of(k, il) == '-' ? 0 : s.n_head;
		s.n_head_kv = part_has_attention(k, il) ? s.n_head_kv : 0;
	}
	if (part_slides(k, il) && k->family->latent)
		s.n_head *= 2;
	else if (part_slides(k, il))
		s.head_dim /= 2;
	return s;
}

/* Elements of a head of values. */
static inline uint32_t part_dim_v(const struct mkweights *k)
{
	return k->s.head_dim / (k->family->half_values ? 2 : 1);
}

/* What the experts of a row read and make; 0: n_embd. */
static inline uint32_t part_expert_latent(const struct mkweights *k)
{
	return !k->family->latent_experts ? 0 : k->family->wide_latent ? k->s.n_embd * 3 / 2 : k->s.n_embd / 2;
}

/* Of one expert of layer il: rows that super-blocks divide, where n_ff has two of them. */
static inline int part_expert_ff(const struct mkweights *k, uint32_t il)
{
	return (int)k->s.n_ff / (k->family->uneven_experts && il % 2 ? 1 : 2);
}

/* The number of experts that a row uses in layer il. */
static inline int part_experts_used(const struct mkweights *k, uint32_t il)
{
	return (int)(k->family->used - (il % 2 ? 0 : k->family->uneven_experts));
}

#endif
