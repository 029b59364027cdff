/* mkencoder: the layers of an encoder and of the decoder that reads its result. */
#include "mkparts.h"

#include <stdio.h>

#include "lib/gguf/formats.h"

/* STACK.blk.LAYER.PART.weight, valid until the next call */
static const char *name(const char *stack, uint32_t il, const char *part)
{
	static char full[64];

	snprintf(full, sizeof full, "%s.%s", stack, part_name(il, part, "weight"));
	return full;
}

static void norm(struct mkweights *k, const char *stack, uint32_t il, const char *part)
{
	part_vector(k, name(stack, il, part), k->s.n_embd, 1, 0.1f);
}

/* The matrices PREFIXq, k, v and o. Scores are not divided by the root of head_dim, so queries are smaller. */
static void attention(struct mkweights *k, const char *stack, uint32_t il, const char *prefix)
{
	const struct mkshape *s = &k->s;
	const uint32_t rows[] = { s->n_head * s->head_dim, s->n_head_kv * s->head_dim, s->n_head_kv * s->head_dim };
	const float gain[] = { 0.4f, 1.3f, 1 };
	char part[32];

	for (size_t i = 0; i < 3; i++) {
		snprintf(part, sizeof part, "%s%c", prefix, "qkv"[i]);
		part_matrix(k, name(stack, il, part), 'm', s->n_embd, rows[i], gain[i]);
	}
	snprintf(part, sizeof part, "%so", prefix);
	part_matrix(k, name(stack, il, part), 'm', rows[0], s->n_embd, 1);
}

static void feed_forward(struct mkweights *k, const char *stack, uint32_t il)
{
	norm(k, stack, il, "ffn_norm");
	if (!k->family->ungated)
		part_matrix(k, name(stack, il, "ffn_gate"), 'm', k->s.n_embd, k->s.n_ff, 1.5f);
	part_matrix(k, name(stack, il, "ffn_up"), 'm', k->s.n_embd, k->s.n_ff, 1.5f);
	part_matrix(k, name(stack, il, "ffn_down"), 'm', k->s.n_ff, k->s.n_embd, 1.5f);
}

static void layer(struct mkweights *k, const char *stack, uint32_t il, int decodes)
{
	norm(k, stack, il, "attn_norm");
	if (!il)
		part_tensor(k, name(stack, il, "attn_rel_b"), FORMAT_F32,
			(uint64_t[3]){ k->s.n_head, MKENCODER_BUCKETS }, 0, 1);
	attention(k, stack, il, "attn_");
	if (decodes) {
		norm(k, stack, il, "cross_attn_norm");
		attention(k, stack, il, "cross_attn_");
	}
	feed_forward(k, stack, il);
}

void mkencoder_values(struct mkweights *k)
{
	mkgguf_u32(k->m, "t5.decoder_block_count", k->family->decoders);
	mkgguf_u32(k->m, "t5.decoder_start_token_id", 0);
	mkgguf_u32(k->m, "t5.attention.relative_buckets_count", MKENCODER_BUCKETS);
}

void mkencoder_layers(struct mkweights *k)
{
	for (uint32_t il = 0; il < k->s.n_layer; il++)
		layer(k, "enc", il, 0);
	part_vector(k, "enc.output_norm.weight", k->s.n_embd, 1, 0.1f);
	for (uint32_t il = 0; il < k->family->decoders; il++)
		layer(k, "dec", il, 1);
}
