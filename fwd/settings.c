/* The options that gen does not share, and what goes with what. */
#include "settings.h"

#include <string.h>

#include "fwd_opts.h"
#include "lib/sampler/rng.h"
#include "fwd/kernels/kernels.h"
#include "fwd/state/segment.h"

enum { ALL = 1, CHAIN, TEMP, IGNORE_EOS, DUMP, PROFILE };
enum { THREADS_MAX = 1024, BATCH_MAX = 1 << 16, CHUNK_MAX = 1 << 16 };

const struct opt settings_opts[] = {
	{ ALL, "all", NULL, "logits of every id, not of each frame's last alone" },
	{ CHAIN, "chain", "N", "pick inside and go on: ids come out in frames of N, and no logits" },
	{ 'n', "n-predict", "N", "chain: stop after N ids (default: at an end-of-generation id, or where the context is full)" },
	{ TEMP, "temp", "T", "chain: draw as sample --gumbel does; 0: take the largest logit (default: 0)" },
	{ 's', "seed", "N", "chain: seed of the draws; -1: a random one (default: -1)" },
	{ IGNORE_EOS, "ignore-eos", NULL, "chain: never pick an end-of-generation id" },
	{ DUMP, "dump-tensors", "DIR", "what each op makes, into a file of its own in DIR" },
	{ PROFILE, "profile", NULL, "at the end, a table of where the time went, on stderr" },
	{ 'v', "verbose", NULL, "what was loaded, times and rates, on stderr" },
	{ 0 }
};

int settings_kv_type(const struct cli *c)
{
	for (int type = 0; type < KV_TYPES; type++)
		if (!strcmp(c->value, kv_type_name[type]))
			return type;
	if (strcmp(c->value, "auto"))
		cli_usage(c, "--kv-type: \"%s\" is not f16, f32, q8_0 or auto", c->value);
	return -1;
}

static void check(const struct settings *set, const struct cli *c, const char *of_chain)
{
	struct why w;

	if (c->argc != 1)
		cli_usage(c, c->argc ? "one model, please (try --help)" : "no model (try --help)");
	if (set->kv && object_check_name(set->kv, &w) < 0)
		cli_usage(c, "--kv: %s", w.text);
	if (set->chain.chunk && set->all)
		cli_usage(c, "--chain writes no logits, and --all asks for those of every id");
	if (!set->chain.chunk && of_chain)
		cli_usage(c, "--%s: only with --chain", of_chain);
}

void settings_read(struct settings *set, struct cli *c)
{
	const char *of_chain = NULL;
	const struct opt *o;
	long long seed = -1;

	*set = (struct settings){ .backend = "multicore", .batch = 512, .kv_type = -1, .chain = { .n = -1 } };
	while ((o = cli_next(c))) {
		if (o->letter == 'n' || o->letter == 's' || o->letter == TEMP || o->letter == IGNORE_EOS)
			of_chain = o->name;
		switch (o->letter) {
		case OPT_BACKEND: set->backend = c->value; break;
		case 't': set->threads = (size_t)cli_integer(c, o, 1, THREADS_MAX); break;
		case 'c': set->n_ctx = (size_t)cli_integer(c, o, 1, SEGMENT_CTX_MAX); break;
		case 'b': set->batch = (size_t)cli_integer(c, o, 1, BATCH_MAX); break;
		case OPT_KV: set->kv = c->value; break;
		case OPT_KV_TYPE: set->kv_type = settings_kv_type(c); break;
		case ALL: set->all = 1; break;
		case CHAIN: set->chain.chunk = (size_t)cli_integer(c, o, 1, CHUNK_MAX); break;
		case 'n': set->chain.n = cli_integer(c, o, 0, INT32_MAX); break;
		case TEMP: set->chain.temp = (float)cli_real(c, o, 0, 1e6); break;
		case 's': seed = cli_integer(c, o, -1, INT64_MAX); break;
		case IGNORE_EOS: set->chain.ignore_eos = 1; break;
		case DUMP: set->dump = c->value; break;
		case PROFILE: set->profile = 1; break;
		case 'v': set->verbose = 1; break;
		}
	}
	check(set, c, of_chain);
	set->chain.seed = seed < 0 ? rng_seed() >> 1 : (uint64_t)seed;  /* a random one, too, that -s can name */
}
