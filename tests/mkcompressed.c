/* mkcompressed: compressed attention (DeepSeek 4). */
#include "mkparts.h"

#include <math.h>
#include <stdio.h>

#include "lib/gguf/formats.h"

enum { OUT_GROUPS = 2, INDEXED = 4 };   /* groups of heads; the ratio of layers that have an indexer */
enum { INDEX_HEADS = 8, INDEX_TOP = 2 };

struct sizes {
	uint32_t dim, rank_q, rank_out, index_dim;
};

static struct sizes sizes_of(const struct mkweights *k)
{
	uint32_t d = k->s.head_dim;

	return (struct sizes){ .dim = 4 * d, .rank_q = 2 * d, .rank_out = 2 * d, .index_dim = 4 * d };
}

/* Layers in turn. */
static uint32_t ratio_of(uint32_t il)
{
	static const uint32_t ratios[] = { 0, INDEXED, 128, INDEXED };

	return ratios[il % 4];
}

static void add_u32(struct mkweights *k, const char *name, uint32_t n)
{
	char key[96];

	snprintf(key, sizeof key, "%s.%s", k->family->arch ? k->family->arch : k->family->name, name);
	mkgguf_u32(k->m, key, n);
}

void mkcompressed_values(struct mkweights *k)
{
	struct sizes z = sizes_of(k);
	char key[96];

	add_u32(k, "attention.key_length", z.dim);
	add_u32(k, "attention.value_length", z.dim);
	add_u32(k, "attention.q_lora_rank", z.rank_q);
	add_u32(k, "attention.output_group_count", OUT_GROUPS);
	add_u32(k, "attention.output_lora_rank", z.rank_out);
	add_u32(k, "attention.indexer.head_count", INDEX_HEADS);
	add_u32(k, "attention.indexer.key_length", z.index_dim);
	add_u32(k, "attention.indexer.top_k", INDEX_TOP);
	snprintf(key, sizeof key, "%s.attention.compress_ratios", k->family->name);
	mkgguf_array(k->m, key, GGUF_I32, k->s.n_layer + 1);
	for (uint32_t il = 0; il <= k->s.n_layer; il++)
		mkgguf_add_i32(k->m, (int32_t)ratio_of(il));
}

/* Tensors PREFIX_* that compress rows of n elements. */
static void compressor(struct mkweights *k, uint32_t il, const char *prefix, uint32_t n)
{
	uint32_t ratio = ratio_of(il), width = ratio == INDEXED ? 2 * n : n;
	char part[64];

	snprintf(part, sizeof part, "%s_kv", prefix);
	part_matrix(k, part_name(il, part, "weight"), 'm', k->s.n_embd, width, 1.3f);
	snprintf(part, sizeof part, "%s_gate", prefix);
	part_matrix(k, part_name(il, part, "weight"), 'm', k->s.n_embd, width, 1.3f);
	snprintf(part, sizeof part, "%s_ape", prefix);
	part_tensor(k, part_name(il, part, "weight"), FORMAT_F32, (uint64_t[3]){ width, ratio }, 0, 0.5f);
	snprintf(part, sizeof part, "%s_norm", prefix);
	part_vector(k, part_name(il, part, "weight"), n, 1, 0.1f);
}

void mkcompressed_attention(struct mkweights *k, uint32_t il)
{
	struct sizes z = sizes_of(k);
	uint32_t n = k->s.n_embd, heads = k->s.n_head;

	part_vector(k, part_name(il, "attn_sinks", "weight"), heads, 0, 1);
	part_matrix(k, part_name(il, "attn_q_a", "weight"), 'm', n, z.rank_q, 1);
	part_vector(k, part_name(il, "attn_q_a_norm", "weight"), z.rank_q, 1, 0.1f);
	part_matrix(k, part_name(il, "attn_q_b", "weight"), 'm', z.rank_q, heads * z.dim, 1);
	part_matrix(k, part_name(il, "attn_kv", "weight"), 'm', n, z.dim, 1);
	part_vector(k, part_name(il, "attn_kv_a_norm", "weight"), z.dim, 1.2f, 0.1f);
	part_matrix(k, part_name(il, "attn_output_a", "weight"), 'm', heads / OUT_GROUPS * z.dim,
		OUT_GROUPS * z.rank_out, 1);
	part_matrix(k, part_name(il, "attn_output_b", "weight"), 'm', OUT_GROUPS * z.rank_out, n, 1);
	if (!ratio_of(il))
		return;
	compressor(k, il, "attn_compressor", z.dim);
	if (ratio_of(il) != INDEXED)
		return;
	compressor(k, il, "indexer_compressor", z.index_dim);
	part_matrix(k, part_name(il, "indexer.proj", "weight"), 'm', n, INDEX_HEADS, 1);
	part_matrix(k, part_name(il, "indexer.attn_q_b", "weight"), 'm', z.rank_q, INDEX_HEADS * z.index_dim, 1);
}
