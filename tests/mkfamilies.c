/* mkfamilies: the table. Windows and original contexts are so small that a prompt of 20 ids passes
 * them. */
#include "mkfamilies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIASED .qkv_bias = 1, .out_bias = 1, .ff_bias = 1
#define LAYER_NORMS .layer_norm = 1, .norm_bias = 1
#define POST_NORMS_ONLY .norm1 = "", .norm2 = "", .post_norms = 1

#define HUNYUAN4 .latent = MKLATENT_ABSORBED, .gates = 1, .sinks = 1, .hyper = 4, .layers = 3, .experts = 5, \
	.used = 2, .dense = 1, .shared = 1, .choice_bias = 1, \
	.keys = "hyper_connection.count=4 hyper_connection.epsilon=0.001 hyper_connection.magnitude=2.0 " \
	"expert_gating_func=2 expert_weights_norm=true expert_weights_scale=1.5 expert_shared_count=1 " \
	"swiglu_clamp_exp=0.0,0.6,0.9"

#define QWEN4(CHOICE) .pre = "qwen2", .norm1 = "", .norm2 = "", .last_norm = "", .heads = MKHEADS_ONE, .hyper = 4, \
	.stream_rank = 32, .unrotated_share = 2, .layers = 4, .mixers = "ddda", .experts = 4, .used = 2, .shared = 1, \
	.shared_gate = 1, .block_indexer = 1, .keys = "hyper_connection.count=4 hyper_connection.low_rank=32 " \
	"attention.indexer.head_count=2 attention.indexer.key_length=64 rope.dimension_sections=2,1,1,0 " CHOICE

#define BERT(ATTENTION) LAYER_NORMS, .norm1 = "", .norm2 = "", .last_norm = "", .post_norms = 1, \
	.attn_post_norm = "attn_output_norm", .ff_post_norm = "layer_output_norm", .embeds = 2, .types = 2, \
	.normed_embedding = 1, .keys = "/tokenizer.ggml.token_type_count=2 " ATTENTION

#define GLM5 .latent = MKLATENT_ABSORBED, .unrotated = 1, .mixers = "kka", .indexer = 1, .pool = 2, .hyper = 4, \
	.stream_mean = 1, .stream_matrix = 1, .layers = 6, .experts = 5, .used = 2, .dense = 1, .shared = 1, \
	.choice_bias = 1, .keys = "rope.dimension_count=0 kda.gate_lower_bound=-5.0 attention.indexer.kpool=2 " \
	"attention.layer_norm_epsilon=0.000001 hyper_connection.count=4 hyper_connection.epsilon=0.001 " \
	"hyper_connection.sinkhorn_iterations=3 expert_gating_func=2 expert_weights_norm=true " \
	"expert_weights_scale=2.5 expert_shared_count=1 swiglu_clamp_exp=0.0,0.6,0.9,0.0,1.1,0.8 " \
	"swiglu_clamp_shexp=0.7,0.0,0.9,0.6,0.0,0.8"

static const struct mkfamily families[] = {
	{ .name = "llama" },
	{ .name = "qwen2", .pre = "qwen2", .qkv_bias = 1 },
	{ .name = "qwen25vl", .pre = "qwen2", .qkv_bias = 1 },
	{ .name = "qwen3", .pre = "qwen2", .heads = MKHEADS_ONE },
	{ .name = "gpt2", .pre = "gpt-2", LAYER_NORMS, BIASED, .fused_qkv = 1, .ungated = 1, .unrotated = 1,
	  .positions = 1, .multi_head = 1 },
	{ .name = "gemma" },
	{ .name = "t5", .last_norm = "dec.output_norm", .multi_head = 1, .decoders = 3, .eos = 200, .unrotated = 1 },
	{ .name = "t5-relu", .arch = "t5", .last_norm = "dec.output_norm", .ungated = 1, .decoders = 2, .eos = 200,
	  .unrotated = 1 },
	{ .name = "dream", .pre = "qwen2", .qkv_bias = 1, .mask = 210, .keys = "attention.causal=false" },
	{ .name = "llada", .mask = 210, .unshifted = 1, .keys = "attention.causal=false" },
	{ .name = "llada-moe", .heads = MKHEADS_ONE, .experts = 4, .used = 2, .mask = 210, .unshifted = 1,
	  .keys = "attention.causal=false" },
	{ .name = "rnd1", .pre = "qwen2", .heads = MKHEADS_ONE, .experts = 6, .used = 3, .mask = 210,
	  .keys = "attention.causal=false" },
	{ .name = "gemma2", .post_norms = 1, .keys = "attention.sliding_window=8 attn_logit_softcapping=5.0 "
	  "final_logit_softcapping=10.0" },
	{ .name = "gemma3", .heads = MKHEADS_ONE, .post_norms = 1, .layers = 7,
	  .keys = "attention.sliding_window=8 rope.scaling.type=linear rope.scaling.factor=8.0" },
	{ .name = "gemma3n", .heads = MKHEADS_ONE, .heads_mean = 0.5f, .post_norms = 1,
	  .layers = 5, .per_layer = 256, .streams = 4,
	  .keys = "attention.sliding_window=8" },
	{ .name = "gemma4", .bare_freqs = 1, .heads = MKHEADS_ONE, .heads_mean = 0.5f, .post_norms = 1,
	  .layers = 6, .period = 3, .shared_kv = 3,
	  .per_layer = 32, .out_scale = 1, .keys = "attention.sliding_window=8 attention.sliding_window_pattern=3 "
	  "attention.shared_kv_layers=3 embedding_length_per_layer_input=32 final_logit_softcapping=10.0" },
	{ .name = "gemma4-moe", .arch = "gemma4", .bare_freqs = 1, .heads = MKHEADS_ONE, .heads_mean = 0.5f,
	  .post_norms = 1, .layers = 3, .period = 3,
	  .v_from_k = 1, .out_scale = 1, .experts = 4, .used = 2, .beside = 1, .keys = "attention.sliding_window=8 "
	  "attention.sliding_window_pattern=3 embedding_length_per_layer_input=0" },
	{ .name = "phi2", LAYER_NORMS, BIASED, .logits_bias = 1, .norm2 = "", .fused_qkv = 1, .ungated = 1,
	  .multi_head = 1, .unrotated_share = 2 },
	{ .name = "phi3", .fused_qkv = 1, .fused_gate = 1 },
	{ .name = "mixtral", .arch = "llama", .experts = 4, .used = 2 },
	{ .name = "qwen2moe", .pre = "qwen2", .qkv_bias = 1, .experts = 4, .used = 2, .shared = 1, .shared_gate = 1 },
	{ .name = "qwen2vl", .pre = "qwen2", .qkv_bias = 1, .keys = "rope.dimension_sections=2,3,2,1" },
	{ .name = "qwen3vl", .pre = "qwen2", .heads = MKHEADS_ONE, .keys = "rope.dimension_sections=3,2,2,0" },
	{ .name = "qwen3vlmoe", .pre = "qwen2", .heads = MKHEADS_ONE, .experts = 4, .used = 2,
	  .keys = "rope.dimension_sections=3,2,2,0" },
	{ .name = "qwen3moe", .pre = "qwen2", .heads = MKHEADS_ONE, .experts = 6, .used = 3 },
	{ .name = "gpt-oss", .norm2 = "post_attention_norm", .qkv_bias = 1, .out_bias = 1, .sinks = 1, .layers = 3,
	  .experts = 5, .used = 3, .expert_bias = 1, .keys = "attention.sliding_window=8 rope.scaling.type=yarn "
	  "rope.scaling.factor=32.0 rope.scaling.original_context_length=64" },
	{ .name = "gptoss", .ollama = 1, .qkv_bias = 1, .out_bias = 1, .sinks = 1, .layers = 3,
	  .experts = 5, .used = 3, .expert_bias = 1, .keys = "attention.sliding_window=8 rope.scaling.factor=32.0 "
	  "rope.scaling.original_context_length=64" },
	{ .name = "glm4", .post_norms = 1, .qkv_bias = 1, .fused_gate = 1, .unrotated_share = 2 },
	{ .name = "glm-4.1v", .arch = "glm4", .post_norms = 1, .qkv_bias = 1, .fused_gate = 1, .unrotated_share = 2,
	  .keys = "rope.dimension_sections=1,2,1,0" },
	{ .name = "glm4moe", .norm2 = "post_attention_norm", .qkv_bias = 1, .heads = MKHEADS_ONE,
	  .unrotated_share = 2, .layers = 3, .experts = 6, .used = 2, .dense = 1, .shared = 1, .choice_bias = 1,
	  .keys = "expert_gating_func=2 expert_shared_count=1 expert_weights_norm=true expert_weights_scale=1.5" },
	{ .name = "deepseek2", .latent = MKLATENT_ABSORBED, .layers = 3, .experts = 8, .used = 3, .dense = 1,
	  .shared = 1, .choice_bias = 1, .keys = "expert_gating_func=2 expert_weights_norm=true "
	  "expert_weights_scale=2.5 expert_shared_count=1 expert_group_count=4 expert_group_used_count=2 "
	  "rope.scaling.type=yarn rope.scaling.factor=4.0 rope.scaling.original_context_length=64 "
	  "rope.scaling.yarn_log_multiplier=0.1" },
	{ .name = "deepseek2-kvb", .arch = "deepseek2", .latent = MKLATENT_EXPANDED, .layers = 2, .experts = 4,
	  .used = 2, .dense = 1, .shared = 1, .keys = "expert_weights_scale=1.5 expert_shared_count=1" },
	{ .name = "deepseek32", .latent = MKLATENT_ABSORBED, .indexer = 1, .layers = 3, .experts = 8, .used = 3,
	  .dense = 1, .shared = 1, .choice_bias = 1, .keys = "expert_gating_func=2 expert_weights_norm=true "
	  "expert_weights_scale=2.5 expert_shared_count=1 expert_group_count=4 expert_group_used_count=2 "
	  "rope.scaling.type=yarn rope.scaling.factor=4.0 rope.scaling.original_context_length=64 "
	  "rope.scaling.yarn_log_multiplier=0.2" },
	{ .name = "axk2", .latent = MKLATENT_ABSORBED, .indexer = 1, .gates = 1, .low_gates = 1, .norm_rank = 32,
	  .layers = 3, .experts = 8, .used = 3, .dense = 1, .shared = 1, .choice_bias = 1,
	  .keys = "expert_gating_func=2 expert_weights_norm=true expert_weights_scale=2.5 expert_shared_count=1 "
	  "rope.scaling.type=yarn rope.scaling.factor=4.0 rope.scaling.original_context_length=64 "
	  "rope.scaling.yarn_log_multiplier=0.2" },
	{ .name = "glm-dsa", .latent = MKLATENT_ABSORBED, .indexer = 1, .layers = 4, .experts = 6, .used = 2,
	  .dense = 1, .shared = 1, .choice_bias = 1, .keys = "expert_weights_norm=true expert_weights_scale=2.5 "
	  "expert_shared_count=1 attention.indexer.types=1,1,1,0" },
	{ .name = "dots3note", .latent = MKLATENT_ABSORBED, .indexer = 1, .shared_normed = 1, .gates = 2, .layers = 5,
	  .period = 3, .experts = 6, .used = 2, .dense = 1, .shared = 1, .choice_bias = 1,
	  .keys = "attention.sliding_window=8 attention.sliding_window_pattern=1,1,0,1,1 rope.freq_base_swa=500.0 "
	  "attention.indexer.types=0,0,1,0,0 expert_gating_func=2 expert_weights_norm=true expert_weights_scale=2.5 "
	  "expert_shared_count=1" },
	{ .name = "minicpm3", .latent = MKLATENT_EXPANDED },
	{ .name = "plm", .latent = MKLATENT_EXPANDED, .whole_queries = 1, .ungated = 1 },
	{ .name = "mistral3", .keys = "rope.scaling.type=yarn rope.scaling.factor=4.0 "
	  "rope.scaling.original_context_length=8 rope.scaling.yarn_beta_fast=2.0 rope.scaling.yarn_beta_slow=0.8 "
	  "rope.scaling.yarn_log_multiplier=0.5 attention.temperature_scale=0.3" },
	{ .name = "llama4", .layers = 4, .experts = 4, .used = 1, .shared = 1,
	  .keys = "interleave_moe_layer_step=1" },
	{ .name = "granite", .keys = "embedding_scale=4.0 residual_scale=0.5 logit_scale=2.0 attention.scale=0.2" },
	{ .name = "graniteswitch", .fused_qkv = 1, .adapters = 4, .keys = "embedding_scale=4.0 residual_scale=0.5 "
	  "logit_scale=2.0 attention.scale=0.2 adapters.count=4 adapters.lora_rank=32 "
	  "adapters.token_ids_activate=3,45,64,180 adapters.token_ids_substitute=90,5,64,31" },
	{ .name = "granitemoe", .experts = 6, .used = 3, .shared = 1,
	  .keys = "embedding_scale=4.0 residual_scale=0.5 logit_scale=2.0 attention.scale=0.2" },
	{ .name = "granite_swa", .sinks = 1, .layers = 5, .keys = "embedding_scale=4.0 residual_scale=0.5 "
	  "logit_scale=2.0 attention.scale=0.2 attention.sliding_window=8 "
	  "attention.sliding_window_pattern=1,1,0,1,0 attention.rope_pattern=1,0,0,1,1" },
	{ .name = "granite_swa-moe", .arch = "granite_swa", .sinks = 1, .experts = 4, .used = 2,
	  .keys = "logit_scale=2.0 attention.sliding_window=8 attention.sliding_window_pattern=1,0" },
	{ .name = "smollm3", .layers = 5 },
	{ .name = "olmo2", POST_NORMS_ONLY, .heads = MKHEADS_ALL, .layers = 5, .keys = "attention.sliding_window=8 "
	  "rope.scaling.type=yarn rope.scaling.factor=8.0 rope.scaling.original_context_length=64" },
	{ .name = "command-r", .layer_norm = 1, .norm2 = "", .keys = "logit_scale=2.2" },
	{ .name = "cohere2", .layer_norm = 1, .norm2 = "", .layers = 5,
	  .keys = "logit_scale=0.7 attention.sliding_window=8" },
	{ .name = "cohere2moe", .layer_norm = 1, .norm2 = "", .layers = 5, .experts = 5, .used = 2, .dense = 1,
	  .shared = 1, .keys = "logit_scale=0.7 attention.sliding_window=8 "
	  "attention.sliding_window_pattern=0,1,1,0,1 expert_shared_count=1 expert_weights_norm=true "
	  "expert_weights_scale=1.5" },
	{ .name = "starcoder2", LAYER_NORMS, BIASED, .ungated = 1 },
	{ .name = "stablelm", LAYER_NORMS, .norm2 = "", .heads = MKHEADS_ROWS, .unrotated_share = 2 },
	{ .name = "codeshell", LAYER_NORMS, BIASED, .fused_qkv = 1, .ungated = 1, .no_embedding = 1 },
	{ .name = "gptneox", LAYER_NORMS, BIASED, .fused_qkv = 1, .ungated = 1, .multi_head = 1,
	  .unrotated_share = 4, .keys = "use_parallel_residual=true" },
	{ .name = "falcon", LAYER_NORMS, .norm2 = "attn_norm_2", .fused_qkv = 1, .ungated = 1 },
	{ .name = "exaone4", POST_NORMS_ONLY, .heads = MKHEADS_ONE },
	{ .name = "exaone-moe", .heads = MKHEADS_ONE, .layers = 5, .experts = 6, .used = 2, .dense = 1, .shared = 1,
	  .choice_bias = 1, .keys = "attention.sliding_window=8 expert_gating_func=2 expert_weights_norm=true "
	  "expert_weights_scale=2.5" },
	{ .name = "afmoe", .heads = MKHEADS_ONE, .gates = 1, .post_norms = 1, .layers = 5, .experts = 6, .used = 2,
	  .dense = 1, .shared = 1, .choice_bias = 1, .keys = "attention.sliding_window=8 expert_gating_func=2 "
	  "expert_weights_norm=true expert_weights_scale=2.5 expert_shared_count=1" },
	{ .name = "hy_v3", .heads = MKHEADS_ONE, .layers = 3, .experts = 6, .used = 2, .dense = 1, .shared = 1,
	  .choice_bias = 2, .keys = "expert_weights_norm=true expert_weights_scale=2.5" },
	{ .name = "step35", .heads = MKHEADS_ONE, .gates = 2, .layers = 5, .experts = 6, .used = 2, .dense = 1,
	  .shared = 1, .choice_bias = 1, .keys = "attention.sliding_window=8 "
	  "attention.sliding_window_pattern=0,1,1,0,1 rope.freq_base_swa=500.0 expert_weights_norm=true "
	  "expert_weights_scale=2.5 swiglu_clamp_exp=0.0,0.0,0.3,0.8,0.0 swiglu_clamp_shexp=0.5,0.0,0.8,0.0,0.4" },
	{ .name = "mimo2", .half_values = 1, .unrotated_share = 2, .sinks = 1, .layers = 5, .experts = 6, .used = 2,
	  .dense = 1, .choice_bias = 1, .keys = "attention.sliding_window=8 "
	  "attention.sliding_window_pattern=0,1,1,0,1 rope.freq_base_swa=500.0 attention.value_scale=0.7" },
	{ .name = "maple", .heads = MKHEADS_ONE, .layers = 4, .experts = 6, .used = 2,
	  .keys = "attention.sliding_window=8 attention.sliding_window_pattern=0,1,1,0 rope.freq_base_swa=500.0 "
	  "swiglu_clamp_exp=0.0,0.5,0.8,0.6" },
	{ .name = "spark2_5", .gates = 2, .layers = 4, .keys = "attention.sliding_window=8 "
	  "attention.sliding_window_pattern=0,1,1,0 rope.freq_base_swa=500.0" },
	{ .name = "muse-glimmer", .heads = MKHEADS_ONE, .gates = 1, .post_norms = 1, .layers = 5,
	  .keys = "attention.sliding_window=8 rope.freq_base_swa=500.0 logit_scale=0.5 "
	  "final_logit_softcapping=10.0" },
	{ .name = "nanbeige", .keys = "num_loops=3" },
	{ .name = "nanbeige-plain", .arch = "nanbeige", .keys = "num_loops=2 skip_loop_final_norm=true" },
	{ .name = "arctic", .experts = 5, .used = 2, .with_dense = 2 },
	{ .name = "grok", .experts = 5, .used = 2, .post_norms = 1, .attn_post_norm = "attn_output_norm" },
	{ .name = "grok-dense", .arch = "grok", .experts = 5, .used = 2, .with_dense = 1, .post_norms = 1,
	  .attn_post_norm = "attn_output_norm", .keys = "embedding_scale=5.0 logit_scale=0.7 "
	  "attention.output_scale=0.3 attn_logit_softcapping=4.0 final_logit_softcapping=10.0 "
	  "router_logit_softcapping=3.0 rope.scaling.type=yarn rope.scaling.factor=4.0 "
	  "rope.scaling.original_context_length=64" },
	{ .name = "talkie", .norm1 = "", .norm2 = "", .last_norm = "", .heads = MKHEADS_GAINS, .out_scale = 1,
	  .layers = 3, .keys = "logit_scale=0.7" },
	{ .name = "chameleon", .heads = MKHEADS_ROWS, .head_norm_bias = 1 },
	{ .name = "chameleon-swin", .arch = "chameleon", .heads = MKHEADS_ROWS, .layers = 3,
	  .keys = "swin_norm=true" },
	{ .name = "minimax-m3", .heads = MKHEADS_ONE, .unrotated_share = 2, .block_indexer = 1, .layers = 3,
	  .experts = 6, .used = 3, .dense = 1, .shared = 1, .choice_bias = 1, .keys = "expert_gating_func=2 "
	  "expert_shared_count=1 expert_weights_norm=true expert_weights_scale=1.5 attention.indexer.head_count=2 "
	  "attention.indexer.key_length=64 attention.indexer.top_k=4 attention.indexer.block_size=128 "
	  "attention.indexer.local_blocks=1" },
	{ .name = "hrm_text", .norm1 = "", .norm2 = "", .last_norm = "", .gates = 1, .layers = 12, .blocks = 4,
	  .keys = "hrm.layers_per_stack=2 hrm.h_cycles=2 hrm.l_cycles=2 embedding_scale=3.0" },
	{ .name = "laguna", .heads = MKHEADS_ONE, .gates = 2, .unrotated_share = 2, .layers = 5, .experts = 6,
	  .used = 2, .dense = 1, .shared = 1, .choice_bias = 1, .keys = "attention.sliding_window=8 "
	  "rope.freq_base_swa=500.0 rope.dimension_count_swa=16 expert_weights_norm=true expert_weights_scale=2.5 "
	  "rope.scaling.type=yarn rope.scaling.factor=8.0 rope.scaling.original_context_length=64" },
	{ .name = "laguna-elements", .arch = "laguna", .heads = MKHEADS_ONE, .gates = 1, .experts = 4, .used = 2,
	  .shared = 1, .choice_bias = 1, .keys = "expert_weights_norm=true expert_weights_scale=2.5" },
	{ .name = "deepseek2-ocr", .multi_head = 1, .layers = 3, .experts = 6, .used = 2, .dense = 1, .shared = 1,
	  .keys = "expert_shared_count=1" },
	{ .name = "mellum", .heads = MKHEADS_ONE, .layers = 5, .experts = 4, .used = 2,
	  .keys = "attention.sliding_window=8 "
	  "rope.scaling.type=yarn rope.scaling.factor=8.0 rope.scaling.original_context_length=64" },
	{ .name = "maincoder", .heads = MKHEADS_ONE },
	{ .name = "pangu-embedded", .qkv_bias = 1, .out_bias = 1 },
	{ .name = "seed_oss", .norm2 = "post_attention_norm", .qkv_bias = 1 },
	{ .name = "hunyuan-dense", .heads = MKHEADS_ONE, .keys = "rope.scaling.alpha=4.0" },
	{ .name = "hunyuan_vl", .heads = MKHEADS_ONE, .keys = "rope.scaling.alpha=4.0 "
	  "rope.dimension_sections=2,2,2,2" },
	{ .name = "paddleocr", .keys = "rope.dimension_sections=2,3,2,1" },
	{ .name = "cogvlm", .fused_qkv = 1, .multi_head = 1, .images = 1 },
	{ .name = "plamo3", .fused_qkv = 1, .fused_gate = 1, .heads = MKHEADS_ONE, .post_norms = 1,
	  .bare_post_norms = 1, .layers = 5,
	  .keys = "attention.sliding_window=8 attention.sliding_window_pattern=4 rope.freq_base_swa=500.0" },
	{ .name = "hunyuan-moe", .heads = MKHEADS_ONE, .experts = 5, .used = 2, .shared = 1 },
	{ .name = "ernie4_5", .qkv_bias = 1 },
	{ .name = "ernie4_5-moe", .layers = 3, .experts = 5, .used = 2, .dense = 1, .shared = 1, .choice_bias = 1,
	  .keys = "interleave_moe_layer_step=1" },
	{ .name = "minimax-m2", .heads = MKHEADS_ALL, .unrotated_share = 2, .experts = 6, .used = 3,
	  .choice_bias = 1, .keys = "expert_gating_func=2" },
	{ .name = "jais2", LAYER_NORMS, BIASED, .ungated = 1 },
	{ .name = "nemotron", LAYER_NORMS, BIASED, .ungated = 1, .unrotated_share = 2 },
	{ .name = "dots1", .heads = MKHEADS_ONE, .multi_head = 1, .layers = 2, .experts = 6, .used = 2, .dense = 1,
	  .shared = 1, .choice_bias = 1, .keys = "expert_gating_func=4 expert_weights_norm=true "
	  "expert_weights_scale=2.5 expert_shared_count=1" },
	{ .name = "gpt-oss-base", .arch = "gpt-oss", .norm2 = "post_attention_norm", .qkv_bias = 1, .out_bias = 1,
	  .sinks = 1, .experts = 5, .used = 3, .expert_bias = 1, .keys = "attention.sliding_window=8 "
	  "rope.freq_base_swa=500.0 rope.scaling.type=yarn rope.scaling.factor=32.0 "
	  "rope.scaling.original_context_length=64" },
	{ .name = "bailingmoe", .experts = 4, .used = 2, .shared = 1,
	  .keys = "expert_weights_norm=true expert_weights_scale=1.5 expert_shared_count=1" },
	{ .name = "bailingmoe2", .fused_qkv = 1, .heads = MKHEADS_ONE, .unrotated_share = 2, .layers = 3,
	  .experts = 8, .used = 3, .dense = 1, .shared = 1, .choice_bias = 1, .keys = "expert_gating_func=2 "
	  "expert_weights_norm=true expert_weights_scale=2.5 expert_shared_count=1 expert_group_count=4 "
	  "expert_group_used_count=2" },
	{ .name = "apertus", .heads = MKHEADS_ONE, .ungated = 1, .keys = "/xielu.alpha_p=0.5 /xielu.alpha_n=0.8 "
	  "/xielu.beta=0.5 /xielu.eps=-0.000001" },
	{ .name = "openelm", .heads = MKHEADS_ONE, .fused_qkv = 1, .uneven = 1, .layers = 3 },
	{ .name = "deci", .mixers = "a-pa", .uneven = 1, .layers = 4 },
	{ .name = "mpt", .layer_norm = 1, .fused_qkv = 1, .ungated = 1, .unrotated = 1,
	  .keys = "attention.max_alibi_bias=8.0 attention.clamp_kqv=1.5" },
	{ .name = "mpt-positions", .arch = "mpt", .divided = 1, .layer_norm = 1, .fused_qkv = 1, .ungated = 1,
	  .unrotated = 1, .positions = 1 },
	{ .name = "refact", .unrotated = 1 },
	{ .name = "dbrx", .layer_norm = 1, .norm2 = "attn_output_norm", .fused_qkv = 1, .experts = 5, .used = 3,
	  .keys = "attention.clamp_kqv=1.5" },
	{ .name = "grovemoe", .heads = MKHEADS_ONE, .experts = 6, .used = 3, .adjugates = 2,
	  .keys = "expert_group_scale=0.3" },
	{ .name = "grovemoe-few", .arch = "grovemoe", .heads = MKHEADS_ONE, .experts = 12, .used = 4, .adjugates = 3,
	  .keys = "expert_group_scale=1.0" },
	{ .name = "lfm2", .heads = MKHEADS_ONE, .mixers = "cca", .layers = 4, .last_norm = "token_embd_norm" },
	{ .name = "lfm2moe", .heads = MKHEADS_ONE, .mixers = "cca", .layers = 4, .last_norm = "token_embd_norm",
	  .experts = 5, .used = 2, .dense = 1, .choice_bias = 1, .keys = "expert_gating_func=2" },
	{ .name = "granitehybrid", .mixers = "mma", .layers = 4, .experts = 5, .used = 2, .dense = 2, .shared = 1,
	  .keys = "embedding_scale=4.0 residual_scale=0.5 logit_scale=2.0 attention.scale=0.2 "
	  "rope.scaling.finetuned=false" },
	{ .name = "plamo2", .mixers = "ha", .layers = 4, .fused_qkv = 1, .fused_gate = 1, .heads = MKHEADS_ROWS,
	  .post_norms = 1, .bare_post_norms = 1, .state_norms = 1 },
	{ .name = "falcon-h1", .mixers = "b", .bare_norm2 = 1 },
	{ .name = "nemotron_h", .mixers = "m-ma-", .single = 1, .ungated = 1, .unrotated = 1, .layers = 5,
	  .keys = "attention.layer_norm_epsilon=0.00001" },
	{ .name = "nemotron_h_moe", .mixers = "m-ma-", .single = 1, .ungated = 1, .unrotated = 1, .layers = 5,
	  .experts = 6, .used = 2, .shared = 1, .choice_bias = 1, .latent_experts = 1,
	  .keys = "expert_weights_norm=true expert_weights_scale=1.7 attention.layer_norm_epsilon=0.00001" },
	{ .name = "nemotron_h_moe-uneven", .arch = "nemotron_h_moe", .mixers = "m-ma-", .single = 1, .ungated = 1,
	  .unrotated = 1, .layers = 5, .experts = 6, .used = 3, .uneven_experts = 2, .shared = 1, .choice_bias = 1,
	  .latent_experts = 1, .wide_latent = 1,
	  .keys = "expert_weights_norm=true attention.layer_norm_epsilon=0.00001" },
	{ .name = "mamba2", .mixers = "m", .single = 1, .unrotated = 1 },
	{ .name = "mamba", .mixers = "s", .single = 1, .unrotated = 1, .keys = "ssm.dt_b_c_rms=true" },
	{ .name = "jamba", .mixers = "ssa", .state_norms = 1, .unrotated = 1, .layers = 4, .experts = 4, .used = 2,
	  .dense = 2 },
	{ .name = "rwkv7", LAYER_NORMS, .norm2 = "attn_norm_2", .mixers = "r", .unrotated = 1, .layers = 3 },
	{ .name = "rwkv6", LAYER_NORMS, .norm2 = "attn_norm_2", .mixers = "x", .unrotated = 1, .layers = 3,
	  .keys = "rescale_every_n_layers=2" },
	{ .name = "rwkv6qwen2", .mixers = "q", .qkv_bias = 1, .unrotated = 1, .layers = 3,
	  .keys = "token_shift_count=1 attention.head_count_kv=2" },
	{ .name = "arwkv7", .mixers = "w", .gates = 1, .unrotated = 1, .layers = 3, .keys = "token_shift_count=1" },
	{ .name = "arwkv7-nog", .arch = "arwkv7", .mixers = "w", .unrotated = 1, .keys = "token_shift_count=1" },
	{ .name = "qwen35", .pre = "qwen2", .norm2 = "post_attention_norm", .heads = MKHEADS_ONE, .unrotated_share = 2,
	  .layers = 4, .mixers = "ddda", .keys = "rope.dimension_sections=1,1,1,0" },
	{ .name = "qwen35-fused", .arch = "qwen35", .pre = "qwen2", .norm2 = "post_attention_norm",
	  .heads = MKHEADS_ONE, .unrotated_share = 2, .layers = 4, .mixers = "ddda", .fused_qkv = 1,
	  .keys = "rope.dimension_sections=1,1,1,0" },
	{ .name = "qwen35moe", .pre = "qwen2", .norm2 = "post_attention_norm", .heads = MKHEADS_ONE,
	  .unrotated_share = 2, .layers = 4, .mixers = "ddda", .experts = 4, .used = 2, .shared = 1, .shared_gate = 1,
	  .keys = "rope.dimension_sections=1,1,1,0" },
	{ .name = "kimi-linear", .latent = MKLATENT_ABSORBED, .whole_queries = 1, .mixers = "kkka", .layers = 5,
	  .experts = 5, .used = 2, .dense = 1, .shared = 1, .choice_bias = 1, .keys = "expert_weights_scale=1.5 "
	  "expert_shared_count=1 expert_gating_func=2" },
	{ .name = "bailingmoe3", .latent = MKLATENT_ABSORBED, .gates = 2, .mixers = "kka", .whole_decays = 1,
	  .layers = 4, .experts = 5, .used = 2, .dense = 1, .shared = 1, .choice_bias = 1,
	  .keys = "kda.gate_lower_bound=-5.0 expert_shared_count=1 expert_gating_func=2 expert_weights_norm=true "
	  "expert_weights_scale=2.5 swiglu_clamp_exp=0.0,0.0,0.3,0.8 swiglu_clamp_shexp=0.5,0.0,0.8,0.4" },
	{ .name = "minimax-01", .mixers = "lla", .layers = 4, .experts = 5, .used = 2, .unrotated_share = 2,
	  .keys = "residual_scale=3.5" },
	{ .name = "kimi-k3", .latent = MKLATENT_ABSORBED, .gates = 1, .mixers = "kka", .whole_gates = 1, .residuals = 1,
	  .layers = 5, .experts = 5, .used = 2, .dense = 1, .shared = 1, .choice_bias = 1, .latent_experts = 2,
	  .keys = "kda.gate_lower_bound=-5.0 attn_res.block_size=2 activation.situ_beta=1.5 "
	  "activation.situ_linear_beta=2.5 expert_shared_count=1 expert_gating_func=2 expert_weights_norm=true "
	  "expert_weights_scale=2.5" },
	{ .name = "glm5next", GLM5 },
	{ .name = "glm5-next", GLM5, .kpool_names = 1 },
	{ .name = "deepseek4", .compressed = 1, .hyper = 4, .stream_matrix = 1, .layers = 5, .experts = 5, .used = 2,
	  .shared = 1, .choice_bias = 1, .by_id = 2, .keys = "attention.sliding_window=8 "
	  "attention.compress_rope_freq_base=300.0 hyper_connection.count=4 hyper_connection.epsilon=0.001 "
	  "hyper_connection.sinkhorn_iterations=3 hash_layer_count=2 expert_gating_func=4 expert_weights_norm=true "
	  "expert_weights_scale=1.5 expert_shared_count=1 swiglu_clamp_exp=0.0,0.6,0.9,0.0,1.1 "
	  "swiglu_clamp_shexp=0.7,0.0,0.9,0.6,0.0 rope.scaling.type=yarn rope.scaling.factor=8.0 "
	  "rope.scaling.original_context_length=64" },
	{ .name = "hy_v4", HUNYUAN4 },
	{ .name = "hy_v4-dsa", .arch = "hy_v4", HUNYUAN4, .indexer = 1 },
	{ .name = "qwen3next", .pre = "qwen2", .norm2 = "post_attention_norm", .heads = MKHEADS_ONE,
	  .unrotated_share = 2, .layers = 5, .mixers = "ddda", .fused_decay = 1, .experts = 4, .used = 2, .shared = 1,
	  .shared_gate = 1 },
	{ .name = "berrylm", .pre = "qwen2", .norm2 = "post_attention_norm", .heads = MKHEADS_ONE,
	  .unrotated_share = 2, .layers = 5, .mixers = "dda", .decay_rank = 32, .residuals = 2, .experts = 4, .used = 2,
	  .shared = 1, .shared_gate = 1, .keys = "kda.gate_rank=32 attn_res.block_size=2" },
	{ .name = "qwen4exp", QWEN4("attention.indexer.top_k=8 attention.compress_ratios=0,0,0,4"), .ngrams = 1 },
	{ .name = "qwen4exp-plain", .arch = "qwen4exp",
	  QWEN4("attention.indexer.top_k=64 attention.compress_ratios=0,0,0,32") },
	{ .name = "bert", BIASED, .ungated = 1, .unrotated = 1, .positions = 1, .ranks = "cob", .labels = 3,
	  BERT("pooling_type=2") },
	{ .name = "bert-fused", .arch = "bert", .fused_qkv = 1, .qkv_bias = 2, .ungated = 1, .unrotated = 1,
	  .positions = 1, .multi_head = 1, BERT("pooling_type=1") },
	{ .name = "nomic-bert", BERT("pooling_type=1") },
	{ .name = "nomic-bert-moe", BIASED, .ungated = 1, .layers = 3, .experts = 5, .used = 2, .every = 2,
	  BERT("moe_every_n_layers=2") },
	{ .name = "jina-bert-v2", .fused_gate = 1, .unrotated = 1, .multi_head = 1, BERT("pooling_type=1") },
	{ .name = "jina-bert-v2-code", .arch = "jina-bert-v2", .unrotated = 1, .multi_head = 1, .heads = MKHEADS_ALL,
	  .head_norm_bias = 1, .twice_normed = 1, .ranks = "cb", BERT("pooling_type=1") },
	{ .name = "jina-bert-v2-plain", .arch = "jina-bert-v2", .ungated = 1, .unrotated = 1, .multi_head = 1, BIASED,
	  BERT("pooling_type=1") },
	{ .name = "jina-bert-v3", BIASED, .ungated = 1, .unrotated_share = 2, BERT("pooling_type=1") },
	{ .name = "modern-bert", .layer_norm = 1, .layers = 5, .fused_qkv = 1, .fused_gate = 1, .multi_head = 1,
	  .embeds = 2, .normed_embedding = 1, .bare_first = 1, .ranks = "cnob",
	  .keys = "pooling_type=4 attention.sliding_window=9 rope.freq_base_swa=500.0" },
	{ .name = "modern-bert-silu", .arch = "modern-bert", .layer_norm = 1, .fused_qkv = 1, .fused_gate = 1,
	  .multi_head = 1, .embeds = 2, .normed_embedding = 1, .bare_first = 1, .ranks = "co",
	  .keys = "pooling_type=2 hidden_activation=silu" },
	{ .name = "neo-bert", .fused_qkv = 1, .fused_gate = 1, .last_norm = "enc.output_norm", .embeds = 2,
	  .ranks = "cob", .labels = 2, .keys = "pooling_type=2" },
	{ .name = "eurobert", .embeds = 2, .keys = "pooling_type=1" },
	{ .name = "gemma-embedding", .heads = MKHEADS_ONE, .post_norms = 1, .layers = 7, .embeds = 2, .projections = 2,
	  .keys = "pooling_type=1 attention.sliding_window=8" },
	{ .name = "llama-embed", .embeds = 2, .keys = "pooling_type=1 attention.causal=false" },
	{ .name = "t5encoder", .embeds = 2, .encodes = 1, .last_norm = "", .unrotated = 1, .multi_head = 1,
	  .keys = "pooling_type=1" },
	{ .name = "lfm2-colbert", .arch = "lfm2", .heads = MKHEADS_ONE, .mixers = "cca", .layers = 4,
	  .last_norm = "token_embd_norm", .embeds = 1, .projections = 1, .keys = "pooling_type=0" },
	{ .name = "qwen3-rank", .arch = "qwen3", .pre = "qwen2", .heads = MKHEADS_ONE, .embeds = 1, .ranks = "o",
	  .labels = 2, .keys = "pooling_type=4" },
	{ .name = "llama-whole", .arch = "llama", .embeds = 1, .keys = "pooling_type=1 attention.causal=false" },
	{ .name = "smallthinker", .layers = 5, .experts = 4, .used = 2, .keys = "expert_gating_func=2 "
	  "attention.sliding_window=16" },
};

const struct mkfamily *mkfamilies_each(size_t i)
{
	return i < sizeof families / sizeof *families ? &families[i] : NULL;
}

const struct mkfamily *mkfamilies_named(const char *name)
{
	const struct mkfamily *f;

	for (size_t i = 0; (f = mkfamilies_each(i)); i++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

int mkfamilies_has_experts(const struct mkfamily *f, uint32_t il)
{
	return f->experts && il >= f->dense && (!f->every || il % f->every == 1);
}

/* Numbers with commas between them: floats, if one has a point. */
static void add_array(struct mkgguf *m, const char *key, const char *s)
{
	uint32_t n = 1;
	int floats = strchr(s, '.') != NULL;

	for (const char *p = s; *p; p++)
		n += *p == ',';
	mkgguf_array(m, key, floats ? GGUF_F32 : GGUF_I32, n);
	for (; n--; s += strcspn(s, ",") + 1)
		if (floats)
			mkgguf_add_f32(m, strtof(s, NULL));
		else
			mkgguf_add_i32(m, atoi(s));
}

/* KEY=VALUE; a KEY that begins with / has no prefix. */
static void add_key(const struct mkfamily *f, struct mkgguf *m, const char *pair, int n)
{
	int key_n = (int)strcspn(pair, "="), bare = *pair == '/';
	char key[96], value[32];

	snprintf(key, sizeof key, "%s%s%.*s", bare ? "" : f->arch ? f->arch : f->name, bare ? "" : ".", key_n - bare,
		pair + bare);
	snprintf(value, sizeof value, "%.*s", n - key_n - 1, pair + key_n + 1);
	if (!strcmp(value, "true") || !strcmp(value, "false"))
		mkgguf_bool(m, key, *value == 't');
	else if (strchr(value, ','))
		add_array(m, key, value);
	else if (strchr(value, '.'))
		mkgguf_f32(m, key, strtof(value, NULL));
	else if (value[strspn(value, "0123456789")])
		mkgguf_text(m, key, value);
	else
		mkgguf_u32(m, key, (uint32_t)atoi(value));
}

void mkfamilies_keys(const struct mkfamily *f, struct mkgguf *m)
{
	const char *s = f->keys ? f->keys : "";

	for (size_t n; *s; s += n + (s[n] == ' ')) {
		n = strcspn(s, " ");
		add_key(f, m, s, (int)n);
	}
}
