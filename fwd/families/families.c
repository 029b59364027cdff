/* The tables of families, and what other files hold that users may try. */
#include "fwd/model/family.h"

#include <string.h>

/* each table ends with a row whose arch is NULL */
extern const struct family families_llama[], families_gemma[], families_gpt2[], families_mixtures[],
	families_deepseek[], families_recurrent[], families_rwkv[],
	families_loops[], families_grok[], families_minimax01[], families_deepseek4[],
	families_t5[], families_diffusion[], families_bert[];

static const struct family *const tables[] = { families_llama, families_gemma, families_gpt2, families_mixtures,
	families_deepseek, families_recurrent, families_rwkv, families_loops, families_grok,
	families_minimax01, families_deepseek4, families_t5, families_diffusion, families_bert };

const struct family *family_each(size_t i)
{
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		for (const struct family *f = tables[t]; f->arch; f++)
			if (!i--)
				return f;
	return NULL;
}

const struct family *family_of(const char *arch)
{
	const struct family *f;

	for (size_t i = 0; (f = family_each(i)); i++)
		if (!strcmp(arch, f->arch))
			return f;
	return NULL;
}

const char *family_other(const char *name, size_t n)
{
	static const struct {
		const char *kind, *names[16];
	} others[] = {
		{ "an image or video model", { "flux", "sd1", "sdxl", "sd3", "aura", "hidream", "cosmos", "ltxv",
			"hyvid", "wan", "lumina2", "qwen_image" } },
		{ "the part of a model that reads images or sound", { "clip", "mmproj" } },
		{ "the part of a model that turns tokens into sound", { "wavtokenizer-dec" } },
		{ "a model of Ollama's engine, with layers for images that fwd lacks", { "mllama" } },
		{ "a model of bitnet.cpp, with ternary types that fwd lacks", { "bitnet-b1.58", "bitnet-25" } },
		{ "a speech model, which generates no text", { "qwen3tts", "pockettts" } },
		{ "a draft head, which needs the hidden states of another model", { "eagle3", "dflash",
			"gemma4-assistant" } },
		{ "an adapter for a model (--lora)", { "adapter" } },
		{ "a control vector for a model (--control-vector)", { "controlvector" } },
		{ "statistics for quantising a model", { "imatrix" } },
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		for (const char *const *other = others[i].names; *other; other++)
			if (strlen(*other) == n && !memcmp(name, *other, n))
				return others[i].kind;
	return NULL;
}
