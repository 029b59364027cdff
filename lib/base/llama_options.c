/* The options of llama.cpp whose names differ here. */
#include "llama_options.h"

#include <stddef.h>
#include <string.h>

/* Those that mean the same here. The first are whole words. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "-sys", "system" }, { "-cnv", "interactive" }, { "system-prompt", "system" },
	{ "conversation", "interactive" }, { "predict", "n-predict" },
	{ "temperature", "temp" }, { "typical-p", "typical" },
	{ "top-n-sigma", "top-nsigma" }, { "sampling-seq", "sampler-seq" }, { "chat-template", "template" },
	{ "chat-template-file", "template" }
};

/* Those that do not exist here, and what to do instead. */
static const struct {
	const char *option, *instead;
} foreign[] = {
	{ "-hf", "download the file, and name it with -m" }, { "--hf-repo", "download the file, and name it with -m" },
	{ "-ngl", "there is no GPU: leave it out" }, { "--n-gpu-layers", "there is no GPU: leave it out" },
	{ "--gpu-layers", "there is no GPU: leave it out" }, { "-fa", "not needed: leave it out" },
	{ "--flash-attn", "not needed: leave it out" }, { "--mlock", "not needed: leave it out" },
	{ "--no-mmap", "not needed: leave it out" }, { "--jinja", "not needed: leave it out" },
	{ "-no-cnv", "a prompt without --chat or -i is no conversation: leave it out" },
	{ "--no-conversation", "a prompt without --chat or -i is no conversation: leave it out" },
	{ "-st", "--chat with a prompt is a single turn" },
	{ "--single-turn", "--chat with a prompt is a single turn" }, { "-sysf", "use --system \"$(cat FILE)\"" },
	{ "--system-prompt-file", "use --system \"$(cat FILE)\"" }, { "-jf", "use --json-schema-file" },
	{ "--reverse-prompt", "use --stop" }, { "--override-kv", "use --override" },
	{ "-ctk", "use --kv-type" }, { "--cache-type-k", "use --kv-type" }, { "-ctv", "use --kv-type" },
	{ "--cache-type-v", "use --kv-type" }, { "-md", "use --draft" }, { "--model-draft", "use --draft" },
	{ "--prompt-cache", "use --kv" }, { "--keep", "the system message is always kept: leave it out" }
};

const char *llama_options_name(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
		if (strlen(aliases[i].alias) == n && !memcmp(aliases[i].alias, s, n))
			return aliases[i].name;
	return NULL;
}

const char *llama_options_instead(const char *option)
{
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if (!strcmp(option, foreign[i].option))
			return foreign[i].instead;
	return NULL;
}
