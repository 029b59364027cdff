/* The names that llama.cpp, Ollama's engine and this project write and read. */
#include "architecture.h"

#include <stdio.h>

static const char *const names[] = {
	"afmoe", "apertus", "arcee", "arctic", "arwkv7", "axk2", "baichuan", "bailingmoe", "bailingmoe2",
	"bailingmoe3", "berrylm", "bert", "bitnet", "bitnet-b1.58", "bloom", "chameleon", "chatglm", "clip",
	"codeshell", "cogvlm", "cohere2", "cohere2moe", "command-r", "dbrx", "deci", "deepseek", "deepseek2",
	"deepseek2-ocr", "deepseek32", "deepseek4", "deepseekocr", "dflash", "dots1", "dots3note", "dream", "eagle3",
	"ernie4_5", "ernie4_5-moe", "eurobert", "exaone", "exaone-moe", "exaone4", "falcon", "falcon-h1", "gemma",
	"gemma-embedding", "gemma2", "gemma3", "gemma3n", "gemma4", "gemma4-assistant", "glm-dsa", "glm4", "glm4moe",
	"glm4moelite", "glm5-next", "glm5next", "glmocr", "gpt-oss", "gpt2", "gptj", "gptneox", "gptoss", "granite",
	"granite_swa", "granitehybrid", "granitemoe", "graniteswitch", "grok", "grovemoe", "hrm_text",
	"hunyuan-dense", "hunyuan-moe", "hunyuan_vl", "hy_v3", "hy_v4", "internlm2", "jais", "jais2", "jamba",
	"jina-bert-v2", "jina-bert-v3", "kimi-k3", "kimi-linear", "laguna", "lfm2", "lfm2moe", "llada", "llada-moe",
	"llama", "llama-embed", "llama4", "maincoder", "mamba", "mamba2", "maple", "mellum", "mimo2", "minicpm",
	"minicpm3", "minimax-01", "minimax-m2", "minimax-m3", "mistral3", "mistral4", "mllama", "modern-bert", "mpt",
	"muse-glimmer", "nanbeige", "nemotron", "nemotron_h", "nemotron_h_moe", "neo-bert", "nomic-bert",
	"nomic-bert-moe", "olmo", "olmo2", "olmo3", "olmoe", "openelm", "orion", "paddleocr", "pangu-embedded",
	"phi2", "phi3", "phimoe", "plamo", "plamo2", "plamo3", "plm", "pockettts", "qwen", "qwen2", "qwen25vl",
	"qwen2moe", "qwen2vl", "qwen3", "qwen35", "qwen35moe", "qwen3moe", "qwen3next", "qwen3tts", "qwen3vl",
	"qwen3vlmoe", "qwen4exp", "refact", "rnd1", "rwkv6", "rwkv6qwen2", "rwkv7", "seed_oss", "smallthinker",
	"smollm3", "spark2_5", "stablelm", "starcoder", "starcoder2", "step35", "t5", "t5encoder", "talkie",
	"wavtokenizer-dec", "xverse"
};

int architecture_known(struct gguf_string name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (gguf_is(name, names[i]))
			return 1;
	return 0;
}

int architecture_integer(const struct gguf *g, const char *name, int64_t low, int64_t high, int64_t *out,
	struct why *w)
{
	struct gguf_string arch;
	char key[160];
	int found = gguf_text(g, "general.architecture", &arch, w);

	if (found <= 0)
		return found;
	snprintf(key, sizeof key, "%.*s.%s", GGUF_SHOWN(arch), name);
	return gguf_integer(g, key, low, high, out, w);
}

int architecture_pools(const struct gguf *g)
{
	struct why ignored;
	int64_t pooling = 0;

	return architecture_integer(g, "pooling_type", 1, INT32_MAX, &pooling, &ignored) > 0;
}
