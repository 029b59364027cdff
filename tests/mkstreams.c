/* mkstreams: layers' own inputs, and several residual streams. */
#include "mkparts.h"

#include <math.h>
#include <stdio.h>

#include "lib/gguf/formats.h"

enum { LOW_RANK = 64 };         /* of the branch beside attention */

void mkstreams_whole(struct mkweights *k)
{
	uint32_t n = k->s.n_embd, all = k->family->per_layer * k->s.n_layer, others = (uint32_t)k->family->streams - 1;

	part_matrix(k, "per_layer_token_embd.weight", 'm', all, k->s.n_vocab, 1);
	part_matrix(k, "per_layer_model_proj.weight", 'm', n, all, 1);
	part_vector(k, "per_layer_proj_norm.weight", k->family->per_layer, 1, 0.1f);
	if (!k->family->streams)
		return;
	part_matrices(k, "altup_proj.weight", 'm', (uint64_t[3]){ n, n, others }, 1);
	part_matrices(k, "altup_unembd_proj.weight", 'm', (uint64_t[3]){ n, n, others }, 1);
}

static void streams(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, count = (uint32_t)k->family->streams;

	part_tensor(k, part_name(il, "altup_router", "weight"), FORMAT_F32, (uint64_t[3]){ n, count }, 0, 4);
	part_vector(k, part_name(il, "altup_router_norm", "weight"), n, 1, 0.1f);
	part_tensor(k, part_name(il, "altup_predict_coef", "weight"), FORMAT_F32,
		(uint64_t[3]){ count, count * count }, 0, 0.1f);
	part_tensor(k, part_name(il, "altup_correct_coef", "weight"), FORMAT_F32,
		(uint64_t[3]){ count, count }, 0, 0.1f);
	part_vector(k, part_name(il, "altup_correct_scale", "weight"), n, 1, 0.1f);
	part_matrix(k, part_name(il, "laurel_l", "weight"), 'm', n, LOW_RANK, 1);
	part_matrix(k, part_name(il, "laurel_r", "weight"), 'm', LOW_RANK, n, 1);
	part_norm(k, il, "laurel_post_norm");
}

void mkstreams_layer(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, own = k->family->per_layer;

	part_matrix(k, part_name(il, "inp_gate", "weight"), 'm', n, own, 1);
	part_matrix(k, part_name(il, "proj", "weight"), 'm', own, n, 1);
	part_norm(k, il, "post_norm");
	if (k->family->streams)
		streams(k, il);
}

/* With gates of all elements; name has room for what follows the prefix. */
static void gated_streams(struct mkweights *k, char *name, size_t prefix, size_t room, const char *part,
	uint32_t shares)
{
	uint32_t count = (uint32_t)k->family->hyper, n = count * k->s.n_embd, rank = k->family->stream_rank;

	snprintf(name + prefix, room, "%s_norm.weight", part);
	part_vector(k, name, n, 1, 0.1f);
	snprintf(name + prefix, room, "%s_down.weight", part);
	part_matrix(k, name, 'm', n, rank, 2);
	snprintf(name + prefix, room, "%s_up.weight", part);
	part_matrix(k, name, 'm', rank, n, 3);
	snprintf(name + prefix, room, "%s_inject.weight", part);
	if (shares > 1)
		part_matrix(k, name, 'm', n, count, 2);
}

enum { NGRAMS = 3, NGRAM_HEADS = 2, NGRAM_TAPS = 4, NGRAM_ROWS = 101 };

static void numbers(struct mkweights *k, const char *name, uint32_t n, uint64_t of(uint32_t i))
{
	char key[96];

	snprintf(key, sizeof key, "%s.%s", k->family->arch ? k->family->arch : k->family->name, name);
	mkgguf_array(k->m, key, GGUF_U64, n);
	for (uint32_t i = 0; i < n; i++)
		mkgguf_add_u64(k->m, of(i));
}

static uint64_t multiplier(uint32_t i)
{
	return (0x123456789abULL << 1 | 1) + 2 * 0x9876543ULL * i;
}

static uint64_t rows_of(uint32_t head)
{
	return NGRAM_ROWS + 2 * head;
}

static uint64_t offset(uint32_t head)
{
	return head ? offset(head - 1) + rows_of(head - 1) : 0;
}

void mkstreams_ngram_values(struct mkweights *k)
{
	uint32_t heads = (NGRAMS - 1) * NGRAM_HEADS;
	const struct { const char *name; uint32_t value; } values[] = { { "ple.ngram_size", NGRAMS },
		{ "ple.heads_per_ngram", NGRAM_HEADS }, { "ple.conv_kernel", NGRAM_TAPS }, { "ple.eos_token_id", 90 },
		{ "embedding_length_per_layer_input", k->s.n_embd / heads } };
	char key[96];

	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		snprintf(key, sizeof key, "%s.%s", k->family->name, values[i].name);
		mkgguf_u32(k->m, key, values[i].value);
	}
	snprintf(key, sizeof key, "%s.ple.layers", k->family->name);
	mkgguf_array(k->m, key, GGUF_I32, 1);
	mkgguf_add_i32(k->m, 1);
	numbers(k, "ple.layer_multipliers", NGRAMS, multiplier);
	numbers(k, "ple.head_offsets", heads, offset);
	numbers(k, "ple.head_vocab_sizes", heads, rows_of);
}

void mkstreams_ngram_table(struct mkweights *k)
{
	uint32_t heads = (NGRAMS - 1) * NGRAM_HEADS;

	part_matrix(k, "per_layer_token_embd.weight", 'm', k->s.n_embd / heads, (uint32_t)offset(heads), 1);
}

void mkstreams_ngrams(struct mkweights *k, uint32_t il)
{
	uint32_t n = k->s.n_embd, all = (uint32_t)k->family->hyper * n;

	part_matrix(k, part_name(il, "ple_key", "weight"), 'm', n, all, 1);
	part_matrix(k, part_name(il, "ple_value", "weight"), 'm', n, n, 2);
	part_vector(k, part_name(il, "ple_norm_key", "weight"), all, 1, 0.1f);
	part_vector(k, part_name(il, "ple_norm_query", "weight"), all, 1, 0.1f);
	part_vector(k, part_name(il, "ple_norm_conv", "weight"), all, 1, 0.1f);
	part_tensor(k, part_name(il, "ple_conv1d", "weight"), FORMAT_F32, (uint64_t[3]){ NGRAM_TAPS, all }, 0, 0.7f);
}

void mkstreams_hyper(struct mkweights *k, uint32_t il, const char *part, uint32_t shares)
{
	uint32_t n = k->s.n_embd, count = (uint32_t)k->family->hyper;
	uint32_t mixes = (shares > 2 ? 2 + count : shares) * count;
	char name[64];
	int prefix = il == UINT32_MAX ? 0 : snprintf(name, sizeof name, "blk.%u.", il);
	size_t room = sizeof name - (size_t)prefix;

	if (k->family->stream_rank) {
		gated_streams(k, name, (size_t)prefix, room, part, shares);
		return;
	}
	snprintf(name + prefix, room, "%s_fn.weight", part);
	part_tensor(k, name, FORMAT_F32, (uint64_t[3]){ count * n, mixes }, 0, 1 / sqrtf((float)(count * n)));
	snprintf(name + prefix, room, "%s_scale.weight", part);
	part_vector(k, name, shares, 1, 0.2f);
	snprintf(name + prefix, room, "%s_base.weight", part);
	part_vector(k, name, mixes, -1, 0.5f);
}
