/* The options of llama.cpp whose names differ here, and a few of other programs. */
#include "llama_options.h"

#include <stddef.h>
#include <string.h>

/* Those that mean the same here. The first are whole words. */
static const struct {
	const char *alias, *name;
} aliases[] = {
	{ "-sys", "system" }, { "-cnv", "interactive" }, { "-co", "color" }, { "-r", "stop" },
	{ "reasoning-budget", "think-budget" }, { "reasoning-budget-message", "think-message" },
	{ "-sp", "special" }, { "draft-model", "draft" }, { "num-draft-tokens", "draft-max" },
	{ "reverse-prompt", "stop" }, { "system-prompt", "system" },
	{ "conversation", "interactive" }, { "predict", "n-predict" }, { "max-tokens", "n-predict" },
	{ "temperature", "temp" }, { "typical-p", "typical" },
	{ "top-n-sigma", "top-nsigma" }, { "sampling-seq", "sampler-seq" }, { "chat-template", "template" },
	{ "chat-template-file", "template" }, { "port", "listen" }, { "embd-normalize", "normalize" },
	{ "pooling", "pool" }
};

static const struct {
	const char *option, *key;
} keys[] = {
	{ "--rope-freq-base", "rope.freq_base" }, { "--rope-scaling", "rope.scaling.type" },
	{ "--rope-scale", "rope.scaling.factor" }, { "--yarn-orig-ctx", "rope.scaling.original_context_length" }
};

static const struct {
	enum llama_harmless kind;
	const char *options;    /* with a blank before and after each */
} harmless[] = {
	{ LLAMA_FLAG, " --no-mmap --mmap --mlock --jinja --no-jinja -no-cnv --no-conversation --no-display-prompt "
		"--display-prompt --no-warmup --warmup --no-perf --perf --simple-io --log-disable -cb --cont-batching "
		"-nocb --no-cont-batching -nkvo --no-kv-offload -mli --multiline-input --no-context-shift "
		"--context-shift -dio --direct-io --no-direct-io --no-repack -nr --no-op-offload --swa-full "
		"--verbose-prompt -kvu --kv-unified --no-kv-unified -cmoe --cpu-moe --no-host --check-tensors "
		"--offline "
		"--no-escape --no-stream --log-prefix --log-timestamps --backend-sampling --no-mmproj "
		"-kvo --kv-offload --repack --op-offload -bs -cmoed --cpu-moe-draft --mmproj-auto --no-mmproj-auto "
		"--mmproj-offload --no-mmproj-offload --prefill-assistant --no-prefill-assistant --log-verbose "
		"--cache-idle-slots --no-cache-idle-slots --no-cache-prompt --show-timings --no-show-timings --ui "
		"--no-ui "
		"--cli --silent-prompt --nobrowser --v2 --nowordwrap --trust-remote-code --use-default-chat-template "
		"--no-cnv --no-log --quiet --stream --enforce-eager --enable-auto-tool-choice "
		"--no-webui --webui --metrics --slots --no-slots --props --cache-prompt " },
	{ LLAMA_VALUE, " -ngl --n-gpu-layers --gpu-layers --keep --numa -ub --ubatch-size -np --parallel -tb "
		"--threads-batch -sm --split-mode -mg --main-gpu -ts --tensor-split -dev --device -C --cpu-mask "
		"--prio --poll -ot --override-tensor -ncmoe --n-cpu-moe --reasoning-format --cache-ram "
		"--defrag-thold -dt --cpu-strict --cpu-range -Cr --cpu-mask-batch -Cb --cpu-range-batch -Crb "
		"--prio-batch --poll-batch -devd --device-draft -ngld --gpu-layers-draft --n-gpu-layers-draft -td "
		"--threads-draft --draft-min --draft-p-min -lv --verbosity --log-verbosity --log-file "
		"--threads-http --alias --cache-reuse -sps --slot-prompt-similarity --keepalive -lm --load-mode "
		"-lzm --lazy-mode -ncffn --n-cpu-ffn -ncmoed --n-cpu-moe-draft -fitt --fit-target -fitc --fit-ctx "
		"-ctxcp --ctx-checkpoints --swa-checkpoints -cms --checkpoint-min-step -cram -tbd "
		"--threads-batch-draft -Cd --cpu-mask-draft -Crd --cpu-range-draft -Cbd --cpu-mask-batch-draft "
		"-Crbd --cpu-range-batch-draft -otd --override-tensor-draft -ctkd --cache-type-k-draft -ctvd "
		"--cache-type-v-draft -to --timeout --dtype --gpu-memory-utilization --tensor-parallel-size -tp "
		"--served-model-name --tool-call-parser --reasoning-parser --max-num-seqs " },
	{ LLAMA_SWITCH, " -fa --flash-attn -fit --fit -fitp --fit-print --log-colors " }
};

#define DOWNLOAD "download the file, and name it with -m"
#define TURNS "the chat template has what is around a turn (--template)"
#define KEYS "use --override KEY=VALUE, with a key of rope.scaling"
#define SAMPLERS "there is no such sampler; --help lists those that there are"
#define CHOICES "use score --choices"
#define IMAGES "images are not read"
#define INFILL "write the model's tokens for it in the prompt"
#define KEEP "use --kv, which keeps the state of a prompt"
#define SHARDS "a model in shards is read as it is: name the first"
#define TRAINING "models are not trained here"

/* Those that do not exist here, and what to do instead. */
static const struct {
	const char *option, *instead;
} foreign[] = {
	{ "-hff", DOWNLOAD }, { "--hf-file", DOWNLOAD }, { "-hft", DOWNLOAD }, { "--hf-token", DOWNLOAD },
	{ "-dr", DOWNLOAD }, { "--docker-repo", DOWNLOAD }, { "-mu", DOWNLOAD }, { "--model-url", DOWNLOAD },
	{ "--models-dir", "set $LMPIPE_MODELS to the folders that hold models" },
	{ "--usage", "try --help" }, { "-o", "name the option itself, as in --temp 0.5" },
	{ "--list-devices", "there are none but this CPU: see --backend" },
	{ "--rpc", "use gen --hosts" }, { "--max-kv-size", "use -c/--ctx-size" },
	{ "-bf", "use -f/--file, which takes any bytes" }, { "--binary-file", "use -f/--file, which takes any bytes" },
	{ "-ins", "use gen -i" }, { "--instruct", "use gen -i" },
	{ "-if", "use gen -i" }, { "--interactive-first", "use gen -i" },
	{ "--in-prefix", TURNS }, { "--in-suffix", TURNS },
	{ "--infill", INFILL }, { "--spm-infill", INFILL },
	{ "-gan", "use --rope-scaling" }, { "--grp-attn-n", "use --rope-scaling" },
	{ "-gaw", "use --rope-scaling" }, { "--grp-attn-w", "use --rope-scaling" },
	{ "-cl", "gguf --find lists the models" }, { "--cache-list", "gguf --find lists the models" },
	{ "-hfd", "download the file, and name it with --draft" },
	{ "-hfrd", "download the file, and name it with --draft" },
	{ "--hf-repo-draft", "download the file, and name it with --draft" },
	{ "-lcd", "use --draft lookup" }, { "--lookup-cache-dynamic", "use --draft lookup" },
	{ "-lcs", "use --draft lookup" }, { "--lookup-cache-static", "use --draft lookup" },
	{ "--server", "use serve -m MODEL --listen 8080" }, { "--bench", "use bench" },
	{ "-ag", "use --tool-command" }, { "--agent", "use --tool-command" },
	{ "--format", "use --json-schema, with {} for any JSON" },
	{ "--hidethinking", "only a terminal shows the reasoning of ask, on standard error" },
	{ "--ignore-chat-template", "use gen without --chat" }, { "--extra-eos-token", "use --stop TEXT" },
	{ "--prefill-response", "use gen --requests, with continue_final_message" },
	{ "--reasoning-effort", "use --set reasoning_effort=LEVEL" }, { "--n-probs", "use --logprobs N, with --json" },
	{ "--adapter-path", "use --lora FILE" }, { "--max-model-len", "use -c/--ctx-size" },
	{ "--kv-bits", "use --kv-type" }, { "--max-tokens-to-sample", "use -n/--n-predict" },
	{ "--merge", SHARDS }, { "--split", SHARDS }, { "-epochs", TRAINING }, { "--epochs", TRAINING },
	{ "-lr", TRAINING }, { "-opt", TRAINING }, { "-val-split", TRAINING }, { "-decay-epochs", TRAINING },
	{ "-wd", TRAINING }, { "-pps", "bench -j does that" }, { "-npp", "use bench -p" }, { "-ntg", "use bench -n" },
	{ "-npl", "use bench -j" }, { "-ptc", "tok --count prints the number of tokens" },
	{ "--rope-freq-scale", "use --rope-scale, which is 1 divided by it" },
	{ "--yarn-ext-factor", KEYS }, { "--yarn-attn-factor", KEYS }, { "--yarn-beta-fast", KEYS },
	{ "--yarn-beta-slow", KEYS }, { "--tfs", SAMPLERS }, { "--adaptive-target", SAMPLERS },
	{ "--adaptive-decay", SAMPLERS }, { "--chat-template-kwargs", "use --set NAME=VALUE" },
	{ "-rea", "use ask --no-think" }, { "--reasoning", "use ask --no-think" },
	{ "--api-key", "use --api-key-file" },
	{ "--perplexity", "score prints it" }, { "--kl-divergence", "use score --against" },
	{ "--hellaswag", CHOICES }, { "--winogrande", CHOICES }, { "--multiple-choice", CHOICES },
	{ "-st", "--chat with a prompt is a single turn; or use ask" },
	{ "--single-turn", "--chat with a prompt is a single turn; or use ask" },
	{ "-sysf", "use --system \"$(cat FILE)\"" }, { "--system-prompt-file", "use --system \"$(cat FILE)\"" },
	{ "-jf", "use --json-schema-file" }, { "--override-kv", "use --override" },
	{ "-ctk", "use --kv-type" }, { "--cache-type-k", "use --kv-type" }, { "-ctv", "use --kv-type" },
	{ "--cache-type-v", "use --kv-type" }, { "-md", "use --draft" }, { "--model-draft", "use --draft" },
	{ "--prompt-cache", KEEP }, { "--prompt-cache-file", KEEP }, { "--prompt-cache-all", KEEP },
	{ "--prompt-cache-ro", KEEP },
	{ "--lora-scaled", "use --lora FILE=SCALE" }, { "--lora-init-without-apply", "use --lora FILE=0" },
	{ "--control-vector-scaled", "use --control-vector FILE=SCALE" },
	{ "--control-vector-layer-range", "use --control-vector-layers A-B" },
	{ "--mmproj", IMAGES }, { "-mm", IMAGES }, { "-mmu", IMAGES }, { "--mmproj-url", IMAGES },
	{ "--image", IMAGES }, { "--attachment", IMAGES },
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

const char *llama_options_instead(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
		if (strlen(foreign[i].option) == n && !memcmp(s, foreign[i].option, n))
			return foreign[i].instead;
	return n > 7 && !memcmp(s, "--spec-", 7) ? "use --draft and --draft-max" : NULL;
}
