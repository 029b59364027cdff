/* The options that fwd does not share with gen, and which of them exclude each other. */
#include "settings.h"

#include <stdlib.h>
#include <string.h>

#include "adapt.h"
#include "fwd_opts.h"
#include "lib/sampler/rng.h"
#include "lib/base/system.h"

enum { ALL = 1, SCORE, CHAIN, TEMP, IGNORE_EOS, DUMP, COMPARE, PROFILE, LIST, OVERRIDE, LAYERS, LENS, PROGRESS,
	POOL, TRUNCATE, OWN_KV };
enum { THREADS_MAX = 1024, BATCH_MAX = 1 << 16, CHUNK_MAX = 1 << 16, LAYERS_MAX = 1 << 14 };

const struct opt settings_opts[] = {
	{ OVERRIDE, "override", "KEY=VALUE", "override a key of the model file, such as rope.freq_base; repeatable" },
	{ LAYERS, "layers", "A-B",
		"run only layers A to B (A-: to the last), as one of several stages: all but the\n"
		"first read hidden states, all but the last write them" },
	{ OWN_KV, "own-kv", NULL, "let sequences name segments of their own (see frame(5))" },
	{ .help = "Output" },
	{ ALL, "all", NULL, "write the logits of every token, not only the last of each frame" },
	{ SCORE, "score", NULL, "instead of logits, write each token's log-probability and rank, and the best token" },
	{ POOL, "pool", "[none|mean|cls|last|rank]",
		"instead of logits, write the embedding of each text at its end: a row for each\n"
		"token (none), their mean, the first or the last; rank: the scores of a pair of\n"
		"texts (without a value: as the model file says)" },
	{ TRUNCATE, "truncate", NULL, 
		"with --pool: cut texts that are longer than the context; their last token stays" },
	{ LENS, "lens", NULL, "also write the logits after each layer, as if it were the last" },
	{ .help = "Generation without sample" },
	{ CHAIN, "chain", "N", "generate without sample: write tokens in frames of N, and no logits" },
	{ 'n', "n-predict", "N",
		"with --chain: stop after N tokens (default: at the end of generation or context)" },
	{ TEMP, "temp", "T", "with --chain: draw like sample --gumbel; 0: take the largest logit (default: 0)" },
	{ 's', "seed", "N", "with --chain: seed of the draws; -1: a random one (default: -1)" },
	{ IGNORE_EOS, "ignore-eos", NULL, "with --chain: never draw an end-of-generation token" },
	{ .help = "Reports" },
	{ 'v', "verbose", NULL, "print to stderr what was loaded, times and rates" },
	{ PROGRESS, "progress", "FILE", "write the progress of long frames to FILE: 512 of 2000" },
	{ PROFILE, "profile", NULL, "at the end, print to stderr where the time went" },
	{ DUMP, "dump-tensors", "DIR", "write the result of each op to a file in the new folder DIR" },
	{ COMPARE, "compare", "DIR",
		"compare with a second such folder, given as MODEL: print the first op that differs;\n"
		"exit status as from diff: 0 the same bits, 1 different, 2 trouble" },
	{ LIST, "list", NULL, "print the supported families, tensor types, vocabularies, adapters and\n"
		"pre-tokenizers, and exit" },
	{ 0 }
};

const struct cli_rule settings_rules[] = {
	{ "chain", .excludes = "all layers score" },
	{ "score", .excludes = "all" },
	{ "pool", .excludes = "all score lens chain layers kv" },
	{ "truncate", .requires = "pool" },
	{ "own-kv", .excludes = "kv layers pool" },
	{ "lens", .excludes = "score chain layers dump-tensors" },
	{ "n-predict temp seed ignore-eos", .requires = "chain" },
	{ "control-vector-layers", .requires = "control-vector" },
	{ 0 }
};

int settings_kv_type(const struct cli *c, const struct opt *o)
{
	int type = cli_choice(c, o);

	return type < KV_TYPES ? type : -1;
}

const struct kernels *settings_kernels(const struct cli *c, const char *name)
{
	const struct kernels *k = kernels_select(name);

	if (!k)
		cli_usage(c, "--backend: \"%s\" is not available on this machine", name);
	return k;
}

/* multicore and simd: the best instruction set, on all cores and on one; scalar: on one core. */
static void choose_backend(struct engine_setup *s, const struct cli *c, const char *name)
{
	int simd = !strcmp(name, "simd"), best = simd || !strcmp(name, "multicore");

	s->kernels = settings_kernels(c, best ? "auto" : name);
	if (!s->threads)
		s->threads = simd || !strcmp(name, "scalar") ? 1 : system_cores();
}

static void check(const struct settings *set, const struct cli *c)
{
	struct why w;

	if (set->list && c->argc)
		cli_usage(c, "--list takes no model");
	if (set->compare && c->argc != 1)
		cli_usage(c, "--compare takes two folders of --dump-tensors");
	if (!set->list && c->argc != 1)
		cli_usage(c, c->argc ? "more than one model (try --help)" : "no model (try --help)");
	if (set->engine.kv && object_check_name(set->engine.kv, &w) < 0)
		cli_usage(c, "--kv: %s", w.text);
}

/* Parses A-B or, with `open`, A-; layers count from 0. The end of A- is 0. */
static struct range read_layers(const struct cli *c, const struct opt *o, int open)
{
	static const char digits[] = "0123456789";
	const char *a = c->value, *b = a + strspn(a, digits) + 1;
	unsigned long long first = strtoull(a, NULL, 10), last = LAYERS_MAX - 1;

	if (*a == '-' || b[-1] != '-' || b[strspn(b, digits)] || !(*b || open))
		cli_usage(c, "--%s: \"%s\" is not A-B%s", o->name, a, open ? " or A-" : "");
	if (*b)
		last = strtoull(b, NULL, 10);
	if (last < first || last >= LAYERS_MAX)
		cli_usage(c, "--%s: \"%s\" is not a range of layers", o->name, a);
	return (struct range){ (size_t)first, *b ? (size_t)last + 1 : 0 };
}

static void read_pooling(struct engine_setup *s, const struct cli *c, const struct opt *o)
{
	s->embeds = 1;
	s->pooling = c->value ? cli_choice(c, o) : -1;
}

static void add_override(struct settings *set, const struct cli *c)
{
	size_t n = 0;

	while (set->override[n])
		n++;
	if (n == SETTINGS_OVERRIDES)
		cli_usage(c, "--override: more than %d times", SETTINGS_OVERRIDES);
	if (!strchr(c->value, '=') || *c->value == '=')
		cli_usage(c, "--override: \"%s\" is not KEY=VALUE", c->value);
	set->override[n] = c->value;
}

/* 0 and -1 are the default. */
static size_t take_threads(const struct cli *c, const struct opt *o)
{
	long long n = cli_integer(c, o, -1, THREADS_MAX);

	return n > 0 ? (size_t)n : 0;
}

static struct scaled_file scaled_file(const struct cli *c, const struct opt *o)
{
	struct scaled_file f = { c->value, 1 };
	struct why w;
	size_t n;

	if (adapt_split(c->value, &n, &f.scale, &w) < 0)
		cli_usage(c, "--%s: %s", o->name, w.text);
	if (c->value[n] && !(f.path = strndup(c->value, n)))
		cli_die(c, "out of memory");
	return f;
}

static void add_file(struct scaled_file *files, size_t *n, size_t most, const struct cli *c, const struct opt *o)
{
	if (*n == most)
		cli_usage(c, "--%s: more than %zu times", o->name, most);
	files[(*n)++] = scaled_file(c, o);
}

void settings_read(struct settings *set, struct cli *c)
{
	const char *backend = "multicore";
	struct range layers = { 0, 0 };
	const struct opt *o;
	long long seed = -1;

	*set = (struct settings){ .engine = { .batch = 512, .kv_type = -1 }, .chain = { .n = -1 },
		.control_layers = { 1, SIZE_MAX } };
	while ((o = cli_next(c)))
		switch (o->letter) {
		case OPT_BACKEND: backend = cli_word(c, o); break;
		case 't': set->engine.threads = take_threads(c, o); break;
		case 'c':
			set->engine.n_ctx = (size_t)cli_integer(c, o, 0, SEGMENT_CTX_MAX);
			set->engine.trained_ctx = !set->engine.n_ctx;
			break;
		case 'b': set->engine.batch = (size_t)cli_integer(c, o, 1, BATCH_MAX); break;
		case OPT_KV: set->engine.kv = c->value; break;
		case OPT_KV_TYPE: set->engine.kv_type = settings_kv_type(c, o); break;
		case OPT_IGNORE_TENSORS: set->ignores_unknown = 1; break;
		case OPT_LORA: add_file(set->lora, &set->n_lora, LORA_MAX, c, o); break;
		case OPT_CONTROL: add_file(set->control, &set->n_control, SETTINGS_CONTROLS, c, o); break;
		case OPT_CONTROL_LAYERS: set->control_layers = read_layers(c, o, 0); break;
		case ALL: set->all = 1; break;
		case SCORE: set->score = 1; break;
		case POOL: read_pooling(&set->engine, c, o); break;
		case TRUNCATE: set->truncate = 1; break;
		case OWN_KV: set->own_kv = 1; break;
		case LENS: set->engine.lens = 1; break;
		case CHAIN: set->chain.chunk = (size_t)cli_integer(c, o, 1, CHUNK_MAX); break;
		case 'n': set->chain.n = cli_integer(c, o, -1, INT32_MAX); break;
		case TEMP: set->chain.temp = (float)cli_real(c, o, 0, 1e6); break;
		case 's': seed = cli_integer(c, o, -1, INT64_MAX); break;
		case IGNORE_EOS: set->chain.ignore_eos = 1; break;
		case DUMP: set->dump = c->value; break;
		case COMPARE: set->compare = c->value; c->trouble = 2; break;
		case PROGRESS: set->progress = c->value; break;
		case PROFILE: set->profile = 1; break;
		case OVERRIDE: add_override(set, c); break;
		case LAYERS: layers = read_layers(c, o, 1); break;
		case LIST: set->list = 1; break;
		case 'v': set->verbose = 1; break;
		}
	set->engine.first = layers.first;
	set->engine.end = layers.end;
	check(set, c);
	choose_backend(&set->engine, c, backend);
	/* keep random seeds in the range that -s accepts */
	set->chain.seed = seed < 0 ? rng_seed() >> 1 : (uint64_t)seed;
}
