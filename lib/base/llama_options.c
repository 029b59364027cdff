/* The options of llama.cpp whose names differ here. */
#include "llama_options.h"

#include <stddef.h>
#include <string.h>

/* Those that mean the same here. The first are whole words. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "-sys", "system" }, { "-cnv", "interactive" }, { "-co", "color" }, { "-r", "stop" },
	{ "reverse-prompt", "stop" }, { "system-prompt", "system" },
	{ "conversation", "interactive" }, { "predict", "n-predict" },
	{ "temperature", "temp" }, { "typical-p", "typical" },
	{ "top-n-sigma", "top-nsigma" }, { "sampling-seq", "sampler-seq" }, { "chat-template", "template" },
	{ "chat-template-file", "template" }, { "port", "listen" }, { "embd-normalize", "normalize" },
	{ "pooling", "pool" }
};

static const struct {
	const char *option, *key;
} keys[] = {
	{ "--rope-freq-base", "rope.freq_base" }
};

static const struct {
	enum llama_harmless kind;
	const char *options;    /* with a blank before and after each */
} harmless[] = {
	{ LLAMA_FLAG, " --no-mmap --mmap --mlock --jinja --no-jinja -no-cnv --no-conversation --no-display-prompt "
		"--display-prompt --no-warmup --warmup --no-perf --perf --simple-io --log-disable -cb --cont-batching "
		"-nocb --no-cont-batching -nkvo --no-kv-offload -mli --multiline-input --no-context-shift "
		"--context-shift -dio --direct-io --no-repack --no-op-offload --swa-full --verbose-prompt "
		"--kv-unified " },
	{ LLAMA_VALUE, " -ngl --n-gpu-layers --gpu-layers --keep --numa -ub --ubatch-size -np --parallel -tb "
		"--threads-batch -sm --split-mode -mg --main-gpu -ts --tensor-split -dev --device -C --cpu-mask --prio "
		"--poll -ot --override-tensor -ncmoe --n-cpu-moe --reasoning-format --cache-ram --defrag-thold -dt " },
	{ LLAMA_SWITCH, " -fa --flash-attn " }
};

/* Those that do not exist here, and what to do instead. */
static const struct {
	const char *option, *instead;
} foreign[] = {
	{ "-hff", "download the file, and name it with -m" },
	{ "--hf-file", "download the file, and name it with -m" },
	{ "-mu", "download the file, and name it with -m" },
	{ "--model-url", "download the file, and name it with -m" },
	{ "-st", "--chat with a prompt is a single turn; or use ask" },
	{ "--single-turn", "--chat with a prompt is a single turn; or use ask" },
	{ "-sysf", "use --system \"$(cat FILE)\"" }, { "--system-prompt-file", "use --system \"$(cat FILE)\"" },
	{ "-jf", "use --json-schema-file" }, { "--override-kv", "use --override" },
	{ "-ctk", "use --kv-type" }, { "--cache-type-k", "use --kv-type" }, { "-ctv", "use --kv-type" },
	{ "--cache-type-v", "use --kv-type" }, { "-md", "use --draft" }, { "--model-draft", "use --draft" },
	{ "--prompt-cache", "use --kv" }, { "--reasoning-budget", "use ask --no-think" },
	{ "--lora-scaled", "use --lora FILE=SCALE" }, { "--lora-init-without-apply", "use --lora FILE=0" },
	{ "--control-vector-scaled", "use --control-vector FILE=SCALE" },
	{ "--control-vector-layer-range", "use --control-vector-layers A-B" },
	{ "--mmproj", "images are not read" }, { "--image", "images are not read" },
	{ "--audio", "sound is not read" }, { "--embedding", "use embed" }, { "--embeddings", "use embed" },
	{ "--embd-output-format", "it writes JSON, --raw or --npy" },
	{ "--embd-separator", "a text is a line, or a file with --files" }, { "--port", "use serve --listen PORT" },
	{ "--host", "use serve --listen ADDRESS:PORT; --hosts divides a model" }
};

/* Whether the words, each between blanks, have s[n] among them. */
static int has_word(const char *words, const char *s, size_t n)
{
	for (const char *at = words + 1; *at; at += strcspn(at, " ") + 1)
		if (strcspn(at, " ") == n && !memcmp(at, s, n))
			return 1;
	return 0;
}

enum llama_harmless llama_options_harmless(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
		if (has_word(harmless[i].options, s, n))
			return harmless[i].kind;
	return LLAMA_NOT_HARMLESS;
}

const char *llama_options_key(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (strlen(keys[i].option) == n && !memcmp(keys[i].option, s, n))
			return keys[i].key;
	return NULL;
}

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
