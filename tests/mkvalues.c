/* mkvalues: the metadata of a model, except its vocabulary. */
#include "mkparts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

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

/* For each layer il the number n · times(il). */
static void by_layer(struct mkweights *k, const char *key, uint32_t n,
	int times(const struct mkweights *, uint32_t))
{
	mkgguf_array(k->m, arch_key(k, key), GGUF_I32, k->s.n_layer);
	for (uint32_t il = 0; il < k->s.n_layer; il++)
		mkgguf_add_i32(k->m, (int32_t)n * times(k, il));
}

static void expert_values(struct mkweights *k)
{
	const struct mkfamily *f = k->family;

	mkgguf_u32(k->m, arch_key(k, "expert_count"), f->experts);
	if (f->uneven_experts) {
		by_layer(k, "expert_used_count", 1, part_experts_used);
		by_layer(k, "expert_feed_forward_length", 1, part_expert_ff);
	} else {
		mkgguf_u32(k->m, arch_key(k, "expert_used_count"), f->used);
		mkgguf_u32(k->m, arch_key(k, "expert_feed_forward_length"), (uint32_t)part_expert_ff(k, 0));
	}
	mkgguf_u32(k->m, arch_key(k, "expert_shared_feed_forward_length"),
		f->shared ? (uint32_t)part_expert_ff(k, 0) : 0);
	mkgguf_u32(k->m, arch_key(k, "leading_dense_block_count"), f->dense);
	if (f->adjugates) {
		mkgguf_u32(k->m, arch_key(k, "experts_per_group"), f->adjugates);
		mkgguf_u32(k->m, arch_key(k, "expert_chunk_feed_forward_length"), k->s.n_ff);
	}
	if (f->latent_experts)
		mkgguf_u32(k->m, arch_key(k, f->latent_experts > 1 ? "expert_latent_length" : "moe_latent_size"),
			part_expert_latent(k));
}

/* The member at this offset of each layer's shape. */
static void sizes_by_layer(struct mkweights *k, const char *key, size_t at)
{
	mkgguf_array(k->m, arch_key(k, key), GGUF_I32, k->s.n_layer);
	for (uint32_t il = 0; il < k->s.n_layer; il++) {
		struct mkshape s = part_shape(k, il);

		mkgguf_add_i32(k->m, (int32_t)*(uint32_t *)((char *)&s + at));
	}
}

static void uneven_values(struct mkweights *k)
{
	sizes_by_layer(k, "feed_forward_length", offsetof(struct mkshape, n_ff));
	sizes_by_layer(k, "attention.head_count", offsetof(struct mkshape, n_head));
	sizes_by_layer(k, "attention.head_count_kv", offsetof(struct mkshape, n_head_kv));
}

static void head_sizes(struct mkweights *k, uint32_t of_k, uint32_t of_v, const char *suffix)
{
	char key[64];

	snprintf(key, sizeof key, "attention.key_length%s", suffix);
	mkgguf_u32(k->m, arch_key(k, key), of_k);
	snprintf(key, sizeof key, "attention.value_length%s", suffix);
	mkgguf_u32(k->m, arch_key(k, key), of_v);
}

static void latent_values(struct mkweights *k)
{
	struct latent_sizes l = part_latent(k, 0), sliding = part_latent(k, 1);

	if (!k->family->whole_queries)
		mkgguf_u32(k->m, arch_key(k, "attention.q_lora_rank"), l.rank_q);
	mkgguf_u32(k->m, arch_key(k, "attention.kv_lora_rank"), l.rank);
	if (k->family->indexer) {
		mkgguf_u32(k->m, arch_key(k, "attention.indexer.head_count"), INDEXER_HEADS);
		mkgguf_u32(k->m, arch_key(k, "attention.indexer.key_length"), INDEXER_DIM);
		mkgguf_u32(k->m, arch_key(k, "attention.indexer.top_k"), INDEXER_TOP);
	}
	if (k->family->latent == MKLATENT_EXPANDED) {
		head_sizes(k, l.nope + l.rope, l.v, "");
		return;
	}
	head_sizes(k, l.rank + l.rope, l.rank, "");
	head_sizes(k, l.nope + l.rope, l.v, "_mla");
	if (!k->family->period)
		return;
	mkgguf_u32(k->m, arch_key(k, "attention.kv_lora_rank_swa"), sliding.rank);
	head_sizes(k, sliding.rank + l.rope, sliding.rank, "_swa");
	head_sizes(k, sliding.nope + l.rope, sliding.v, "_mla_swa");
}

static uint32_t kv_heads(const struct mkweights *k)
{
	return k->family->latent == MKLATENT_ABSORBED || k->family->compressed ? 1
		: k->family->latent == MKLATENT_EXPANDED ? k->s.n_head : k->s.n_head_kv;
}

static void attention_values(struct mkweights *k)
{
	const struct mkshape *s = &k->s;

	if (k->family->compressed)
		mkcompressed_values(k);
	else if (k->family->latent)
		latent_values(k);
	else if (s->head_dim * s->n_head != s->n_embd || k->family->heads == MKHEADS_ONE || k->family->uneven
		|| k->family->half_values)
		head_sizes(k, s->head_dim, part_dim_v(k), "");
	if (k->family->period && !k->family->latent) {
		head_sizes(k, s->head_dim / 2, s->head_dim / 2, "_swa");
		mkgguf_u32(k->m, arch_key(k, "rope.dimension_count_swa"), s->head_dim / 2);
	}
}

static void rwkv_values(struct mkweights *k)
{
	struct low_ranks r = part_ranks(k);

	mkgguf_u32(k->m, arch_key(k, "wkv.head_size"), k->s.head_dim);
	mkgguf_u32(k->m, arch_key(k, "attention.decay_lora_rank"), r.w);
	mkgguf_u32(k->m, arch_key(k, "attention.iclr_lora_rank"), r.a);
	mkgguf_u32(k->m, arch_key(k, "attention.value_residual_mix_lora_rank"), r.v);
	if (part_has_mixer(k, 'r') || k->family->gates)
		mkgguf_u32(k->m, arch_key(k, "attention.gate_lora_rank"), r.g);
}

static void mixer_values(struct mkweights *k)
{
	struct state_space p = part_state_space(k);

	if (part_has_mixer(k, 'x') || part_has_mixer(k, 'q')) {
		mkgguf_u32(k->m, arch_key(k, "wkv.head_size"), k->s.head_dim);
		mkgguf_u32(k->m, arch_key(k, "time_mix_extra_dim"), part_ranks(k).a);
		mkgguf_u32(k->m, arch_key(k, "time_decay_extra_dim"), part_ranks(k).w);
		return;
	}
	if (part_has_mixer(k, 'd') || part_has_mixer(k, 'l')) {
		mkgguf_u32(k->m, arch_key(k, "attention.head_count_kv"), k->s.n_head_kv);
		mkgguf_u32(k->m, arch_key(k, "full_attention_interval"), (uint32_t)strlen(k->family->mixers));
	} else
		by_layer(k, "attention.head_count_kv", kv_heads(k), part_has_attention);
	if (part_has_mixer(k, 'l'))
		return;
	if (part_has_mixer(k, 'c')) {
		mkgguf_u32(k->m, arch_key(k, "shortconv.l_cache"), TAPS - 1);
		return;
	}
	if (part_has_mixer(k, 'r') || part_has_mixer(k, 'w')) {
		rwkv_values(k);
		return;
	}
	mkgguf_u32(k->m, arch_key(k, "ssm.conv_kernel"), TAPS);
	if (part_has_mixer(k, 'k')) {
		mkgguf_u32(k->m, arch_key(k, "kda.head_dim"), k->s.head_dim);
		return;
	}
	mkgguf_u32(k->m, arch_key(k, "ssm.inner_size"), p.inner);
	mkgguf_u32(k->m, arch_key(k, "ssm.state_size"), p.state);
	mkgguf_u32(k->m, arch_key(k, "ssm.time_step_rank"), part_has_mixer(k, 's') ? part_ranks(k).step : p.heads);
	mkgguf_u32(k->m, arch_key(k, "ssm.group_count"), part_has_mixer(k, 'h') ? 0 : p.groups);
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
		by_layer(k, "feed_forward_length", s->n_ff, part_has_feed_forward);
	else if (!f->uneven)
		mkgguf_u32(k->m, arch_key(k, "feed_forward_length"), s->n_ff);
	if (f->uneven)
		uneven_values(k);
	else if (f->latent && f->period)
		sizes_by_layer(k, "attention.head_count", offsetof(struct mkshape, n_head));
	else
		mkgguf_u32(k->m, arch_key(k, "attention.head_count"), s->n_head);
	if (f->mixers && !f->uneven)
		mixer_values(k);
	else if (!f->uneven)
		mkgguf_u32(k->m, arch_key(k, "attention.head_count_kv"), kv_heads(k));
	mkgguf_f32(k->m, arch_key(k, f->layer_norm ? "attention.layer_norm_epsilon"
		: "attention.layer_norm_rms_epsilon"), 1e-5f);
	attention_values(k);
	if (!f->unrotated)
		rope_values(k);
	if (f->experts)
		expert_values(k);
	if (f->decoders)
		mkencoder_values(k);
	if (f->encodes)
		mkgguf_u32(k->m, arch_key(k, "attention.relative_buckets_count"), MKENCODER_BUCKETS);
	if (f->embeds)
		mkembedders_values(k);
	if (f->ngrams)
		mkstreams_ngram_values(k);
	if (f->mask)
		mkgguf_u32(k->m, "tokenizer.ggml.mask_token_id", f->mask);
	if (f->unshifted)
		mkgguf_bool(k->m, "diffusion.shift_logits", 0);
	mkfamilies_keys(f, k->m);
}
