/* Tables of the keys and tensors that llama.cpp requires and fwd does not. */
#include "expected.h"

#include <stdio.h>
#include <string.h>

#include "keys.h"
#include "layers.h"

#define BY_TENSORS "the tensors decide"
#define BY_DEFAULT "a default is used"

#define LAYER_NORMED "bloom codeshell falcon gpt2 gptneox jais jais2 nemotron orion phi2 phimoe rwkv6 rwkv7 stablelm " \
	"starcoder starcoder2"
#define BIASED "bloom codeshell gpt2 gptneox jais jais2 starcoder starcoder2"

/* Which models of an architecture have a key: all; those with experts; with shared experts; with experts, but none in
 * the first layer. */
enum which { ALL, EXPERTS, SHARED, DENSE_FIRST };

static const struct expected_key {
	const char *name, *instead;
	enum which which;
	const char *archs;
} keys[] = {
	{ "activation.situ_linear_beta", BY_DEFAULT, ALL, "kimi-k3" },
	{ "attention.clamp_kqv", BY_DEFAULT, ALL, "dbrx" },
	{ "attention.indexer.types", BY_DEFAULT, ALL, "dots3note" },
	{ "attention.key_length", BY_DEFAULT, ALL, "bailingmoe3 deepseek2 deepseek32 glm-dsa hy_v4 kimi-k3 "
		"kimi-linear mistral4" },
	{ "attention.key_length_swa", BY_DEFAULT, ALL, "dots3note gemma4" },
	{ "attention.layer_norm_epsilon", BY_DEFAULT, ALL, "nemotron_h nemotron_h_moe" },
	{ "attention.sliding_window", BY_DEFAULT, ALL, "afmoe" },
	{ "attention.sliding_window_pattern", BY_DEFAULT, ALL, "dots3note gemma4 granite_swa maple mimo2 "
		"spark2_5 step35" },
	{ "attention.value_length_swa", BY_DEFAULT, ALL, "gemma4" },
	{ "embedding_length_per_layer_input", BY_DEFAULT, ALL, "gemma4" },
	{ "expert_feed_forward_length", BY_TENSORS, EXPERTS, "afmoe bailingmoe bailingmoe2 bailingmoe3 "
		"cohere2moe deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 dots1 dots3note ernie4_5-moe "
		"exaone-moe gemma4 glm-dsa glm4moe gpt-oss grok grovemoe hunyuan-moe hy_v3 hy_v4 kimi-k3 "
		"kimi-linear laguna lfm2moe llama4 maple mellum mimo2 minimax-m2 minimax-m3 mistral4 "
		"nemotron_h_moe qwen35moe qwen3moe qwen3next rnd1 smallthinker step35" },
	{ "expert_gating_func", BY_DEFAULT, EXPERTS, "bailingmoe2 bailingmoe3 deepseek32 deepseek4 dots1 "
		"dots3note exaone-moe hy_v4 kimi-k3 kimi-linear lfm2moe minimax-m2 minimax-m3 smallthinker" },
	{ "expert_group_scale", BY_DEFAULT, EXPERTS, "grovemoe" },
	{ "expert_shared_count", BY_TENSORS, EXPERTS, "afmoe bailingmoe bailingmoe2 bailingmoe3 cohere2moe "
		"deepseek deepseek2 deepseek2-ocr deepseek32 deepseek4 dots1 dots3note glm-dsa glm4moe hy_v4 "
		"kimi-k3 kimi-linear minimax-m3 mistral4" },
	{ "expert_shared_feed_forward_length", BY_TENSORS, SHARED, "ernie4_5-moe granite_swa granitehybrid "
		"granitemoe nemotron_h_moe qwen2moe qwen35moe qwen3next qwen4exp step35" },
	{ "expert_weights_norm", BY_DEFAULT, EXPERTS, "deepseek4" },
	{ "expert_weights_scale", BY_DEFAULT, EXPERTS, "deepseek4" },
	{ "feed_forward_length", BY_TENSORS, EXPERTS, "arctic dbrx granite_swa granitehybrid granitemoe grok "
		"hunyuan-moe llama minimax-01 minimax-m2 olmoe phimoe" },
	{ "hyper_connection.epsilon", BY_DEFAULT, ALL, "deepseek4 hy_v4" },
	{ "interleave_moe_layer_step", BY_TENSORS, EXPERTS, "ernie4_5-moe llama4" },
	{ "leading_dense_block_count", BY_TENSORS, DENSE_FIRST, "afmoe bailingmoe2 deepseek deepseek2 "
		"deepseek2-ocr deepseek32 dots1 ernie4_5-moe exaone-moe glm-dsa glm4moe hy_v4 kimi-k3 kimi-linear "
		"lfm2moe minimax-m3 mistral4" },
	{ "leading_dense_block_count", BY_TENSORS, EXPERTS, "bailingmoe3 cohere2moe dots3note laguna" },
	{ "logit_scale", BY_DEFAULT, ALL, "cohere2 cohere2moe granite granite_swa granitemoe graniteswitch "
		"muse-glimmer talkie" },
	{ "rope.dimension_count_swa", BY_DEFAULT, ALL, "gemma4" },
	{ "rope.dimension_sections", BY_DEFAULT, ALL, "paddleocr qwen2vl qwen35 qwen35moe qwen3vl qwen3vlmoe "
		"qwen4exp" },
	{ "rope.freq_base_swa", BY_DEFAULT, ALL, "dots3note" },
	{ "ssm.group_count", BY_DEFAULT, ALL, "plamo2" },
	{ "swiglu_clamp_exp", BY_DEFAULT, EXPERTS, "deepseek4 maple" },
	{ "token_shift_count", BY_DEFAULT, ALL, "arwkv7 rwkv6qwen2" },
	{ "use_parallel_residual", BY_DEFAULT, ALL, "gptneox" },
};

/* Tensors: those of layers, then those of the model. */
static const struct expected_tensor {
	const char *name, *beside;      /* expected where there is another */
	const char *archs;
} of_layers[] = {
	{ "attn_gate.weight", "attn_kv_a_mqa.weight", "bailingmoe3 dots3note hy_v4" },
	{ "attn_gate.weight", "attn_k.weight", "laguna muse-glimmer spark2_5" },
	{ "attn_norm.bias", "attn_norm.weight", LAYER_NORMED },
	{ "attn_norm_2.bias", "attn_norm_2.weight", "rwkv6 rwkv7" },
	{ "attn_output.bias", "attn_output.weight", BIASED " gpt-oss pangu-embedded phi2 phimoe" },
	{ "attn_qkv.bias", "attn_qkv.weight", "bloom gpt2 gptneox jais qwen starcoder" },
	{ "attn_sinks.weight", "attn_output.weight", "gpt-oss granite_swa hy_v4" },
	{ "attn_sinks.weight", "attn_q_a.weight", "deepseek4" },
	{ "exp_probs_b.bias", "ffn_gate_inp.weight", "afmoe bailingmoe3 deepseek4 dots3note glm4moe kimi-k3 "
		"kimi-linear laguna lfm2moe minimax-m2 minimax-m3 nemotron_h_moe" },
	{ "ffn_down.bias", "ffn_down.weight", BIASED " phi2" },
	{ "ffn_down_exps.bias", "ffn_down_exps.weight", "gpt-oss" },
	{ "ffn_gate.bias", "ffn_gate.weight", "jais" },
	{ "ffn_gate_exps.bias", "ffn_gate_exps.weight", "gpt-oss" },
	{ "ffn_gate_inp.bias", "ffn_gate_inp.weight", "gpt-oss" },
	{ "ffn_gate_inp_shexp.weight", "ffn_up_shexp.weight", "qwen2moe qwen35moe qwen3next qwen4exp" },
	{ "ffn_norm.bias", "ffn_norm.weight", BIASED " nemotron orion phimoe" },
	{ "ffn_up.bias", "ffn_up.weight", BIASED " phi2" },
	{ "ffn_up_exps.bias", "ffn_up_exps.weight", "gpt-oss" },
	{ "ssm_conv1d.bias", "ssm_conv1d.weight", "falcon-h1 granitehybrid jamba mamba mamba2 nemotron_h "
		"nemotron_h_moe" },
	{ "ssm_dt.bias", "ssm_conv1d.weight", "jamba mamba plamo2" },
	{ "time_mix_first.weight", "time_mix_output.weight", "rwkv6" },
	{ "time_mix_ln.bias", "time_mix_ln.weight", "rwkv6 rwkv7" },
	{ "time_mix_v0.weight", "time_mix_w0.weight", "arwkv7 rwkv7" },
	{ "time_mix_v1.weight", "time_mix_w0.weight", "arwkv7 rwkv7" },
	{ "time_mix_v2.weight", "time_mix_w0.weight", "arwkv7 rwkv7" },
	{ "vis_attn_output.weight", "attn_output.weight", "cogvlm" },
	{ "vis_attn_qkv.weight", "attn_qkv.weight", "cogvlm" },
	{ "vis_down.weight", "ffn_down.weight", "cogvlm" },
	{ "vis_gate.weight", "ffn_gate.weight", "cogvlm" },
	{ "vis_up.weight", "ffn_up.weight", "cogvlm" },
}, of_model[] = {
	{ "output.bias", "output.weight", "phi2 phimoe" },
	{ "output_norm.bias", "output_norm.weight", LAYER_NORMED },
	{ "rope_freqs.weight", "token_embd.weight", "gemma4" },
	{ "token_embd_norm.bias", "token_embd_norm.weight", "bloom rwkv6 rwkv7" },
};

/* Architectures whose output matrix is never the embedding. */
static const char untied[] = "apertus arctic arwkv7 baichuan bailingmoe bailingmoe2 chameleon codeshell dbrx deepseek4 "
	"dots1 exaone-moe gpt-oss gptneox hy_v4 internlm2 jais kimi-k3 kimi-linear llada-moe maple mellum mimo2 "
	"minimax-m2 minimax-m3 muse-glimmer nemotron olmo2 olmoe orion plamo qwen qwen2moe rwkv6 rwkv6qwen2 rwkv7 "
	"stablelm step35 talkie xverse";

static int has_word(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return 1;
	return 0;
}

static int has_key(const struct model *m, enum which which)
{
	switch (which) {
	case EXPERTS: return m->experts.n > 0;
	case SHARED: return m->experts.most.n_ff_shared > 0;
	case DENSE_FIRST: return m->experts.n && !m->layer[0].experts;
	default: return 1;
	}
}

static void note_keys(const struct model *m)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		struct key_name name = key_name(m, keys[i].name);

		if (has_word(keys[i].archs, m->arch) && has_key(m, keys[i].which) && !gguf_find(m->gguf, name.s))
			model_note(m, "%s: missing; %s", name.s, keys[i].instead);
	}
}

static int has_tensor(const struct model *m, const char *layer, const char *name)
{
	char whole[96];

	snprintf(whole, sizeof whole, "%s%s", layer, name);
	return gguf_tensor(m->gguf, whole) != NULL;
}

/* Layers that choose experts by token id have no biases for the choice. */
static int lacks(const struct model *m, const char *layer, const struct expected_tensor *t)
{
	if (!strcmp(t->name, "exp_probs_b.bias") && has_tensor(m, layer, "ffn_gate_tid2eid.weight"))
		return 0;
	return has_tensor(m, layer, t->beside) && !has_tensor(m, layer, t->name);
}

/* One line for all layers that lack a tensor. */
static void note_layers(const struct model *m, const struct expected_tensor *t)
{
	char layer[32], first[32];
	size_t n = 0;

	for (size_t il = 0; il < m->n_layer; il++) {
		snprintf(layer, sizeof layer, "blk.%zu.", m->layer[il].block);
		if (lacks(m, layer, t) && !n++)
			memcpy(first, layer, sizeof first);
	}
	if (n == 1)
		model_note(m, "tensor %s%s: missing; the layer runs without it", first, t->name);
	else if (n)
		model_note(m, "tensor %s%s: missing; %zu layers run without it", first, t->name, n);
}

void expected_note(const struct model *m)
{
	note_keys(m);
	for (size_t i = 0; i < sizeof of_layers / sizeof *of_layers; i++)
		if (has_word(of_layers[i].archs, m->arch))
			note_layers(m, &of_layers[i]);
	for (size_t i = 0; i < sizeof of_model / sizeof *of_model; i++)
		if (has_word(of_model[i].archs, m->arch) && lacks(m, "", &of_model[i]))
			model_note(m, "tensor %s: missing; the model runs without it", of_model[i].name);
	if (has_word(untied, m->arch) && !has_tensor(m, "", "output.weight"))
		model_note(m, "tensor output.weight: missing; token_embd.weight is used in its place");
}
