/* The options of embed. */
#include "settings.h"

#include <limits.h>
#include <string.h>

#include "lib/gguf/architecture.h"
#include "lib/gguf/models.h"
#include "lib/process/find.h"
#include "lib/stream/frame.h"
#include "prefix.h"
#include "scale.h"

enum { LINES = 1, FILES, JSONL, REQUESTS, PAIR, PREFIX, NO_TEXT, NO_PARSE_SPECIAL, TRUNCATE, LORA, POOL, NORMALIZE,
	DIMENSIONS, RAW, NPY, BACKEND };
enum { NORM_MAX = 64 };

const struct opt settings_opts[] = {
	{ LINES, "lines", NULL, "each line is a text (default)" },
	{ FILES, "files", NULL, "each FILE is a text; its name is the id" },
	{ JSONL, "jsonl", NULL,
		"each line is a JSON object with \"text\", whose other members are kept,\n"
		"or a string" },
	{ REQUESTS, "requests", NULL,
		"each line is a request of a program such as serve: an object with \"text\",\n"
		"or, for a reranker, \"query\" and \"document\"" },
	{ PAIR, "pair", NULL,
		"each line is a pair for a reranker: query, tab, document; with --jsonl\n"
		"an object with \"query\" and \"document\"" },
	{ PREFIX, "prefix", "TEXT",
		"put this before each text, or each query of --pair (default: what an\n"
		"adapter's file says)" },
	{ NO_TEXT, "no-text", NULL, "leave the texts out of the output" },
	{ NO_PARSE_SPECIAL, "no-parse-special", NULL, "treat control tokens in the texts as plain text" },
	{ TRUNCATE, "truncate", NULL, "cut texts that are longer than the context" },
	{ POOL, "pool", "none|mean|cls|last|rank", "how rows become one (default: as the file says)" },
	{ DIMENSIONS, "dimensions", "N", "keep the first N elements, of models trained for that" },
	{ NORMALIZE, "normalize", "P",
		"divide by the norm of P; 0: the largest is 32760; -1: not at all\n"
		"(default: 2, but -1 for --pool none and rank)" },
	{ RAW, "raw", NULL, "write little-endian floats (F32)" },
	{ NPY, "npy", NULL, "write a .npy file" },
	{ LORA, "lora", "FILE[=SCALE]", "an adapter of fwd; repeatable" },
	{ 't', "threads", "N", "threads of fwd" },
	{ 'c', "ctx-size", "N", "tokens of fwd's context" },
	{ 'b', "batch-size", "N", "tokens in a pass of fwd" },
	{ BACKEND, "backend", "NAME", "backend of fwd" },
	{ 0 }
};

const struct cli_rule settings_rules[] = {
	{ .one_of = "lines files jsonl requests" },
	{ .one_of = "raw npy" },
	{ "files", .excludes = "pair" },
	{ "requests", .excludes = "pair no-text dimensions raw npy" },
	{ "no-text", .excludes = "raw npy" },
	{ "pool=rank", .excludes = "dimensions" },
	{ 0 }
};

static void add(struct settings *set, const struct cli *c, int stage, const char *word)
{
	struct why w;

	cli_must(c, stage_arg(&set->pipeline.stage[stage], word, &w), &w);
}

/* An option of fwd, with its value. */
static void pass(struct settings *set, const struct cli *c, const char *option)
{
	add(set, c, PIPELINE_FWD, option);
	add(set, c, PIPELINE_FWD, c->value);
}

/* The prefix is that of the first adapter that names one. */
static void take_adapter(struct settings *set, const struct cli *c, char **prefix)
{
	struct why w;

	pass(set, c, "--lora");
	cli_must(c, !*prefix && prefix_read(c->value, prefix, &w), &w);
}

static void start_commands(struct settings *set, const struct cli *c)
{
	static const char *const name[PIPELINE_STAGES] = { "tok", "fwd" };

	for (int i = 0; i < PIPELINE_STAGES; i++) {
		set->pipeline.stage[i] = (struct stage){ .name = name[i], .program = name[i], .quiet = 1 };
		add(set, c, i, find_program(c->argv[0], "embed", name[i]));
	}
	add(set, c, PIPELINE_TOK, "--json");
}

/* What is left of the command line: the model, and the files of texts. */
static void take_operands(struct settings *set, struct cli *c)
{
	static char *from_stdin[] = { "-" };
	struct items *items = &set->pipeline.items;

	if (!c->argc)
		cli_usage(c, "no model (try --help)");
	if (strcmp(c->argv[0], "-"))
		set->model = c->argv[0];
	items->file = c->argc > 1 ? c->argv + 1 : from_stdin;
	items->n_files = c->argc > 1 ? c->argc - 1 : 1;
	if (items->kind == ITEMS_FILES && c->argc < 2)
		cli_usage(c, "--files: no files");
}

/* A filter takes no texts, and runs no model. */
static void check_filter(const struct cli *c)
{
	static const int filters[] = { DIMENSIONS, NORMALIZE, RAW, NPY };
	size_t k;

	if (c->argc > 1)
		cli_usage(c, "-: reads frames from standard input, and no texts");
	for (size_t i = 0; i < c->n_given; i++) {
		for (k = 0; k < sizeof filters / sizeof *filters && filters[k] != c->given[i].o->letter; k++)
			;
		if (k == sizeof filters / sizeof *filters)
			cli_usage(c, "--%s requires a model, and reads no frames", c->given[i].o->name);
	}
}

/* Whether requests are texts or pairs is for the model to say. */
static void read_model(struct settings *set, const struct cli *c, const char *pool)
{
	struct items *items = &set->pipeline.items;
	const struct gguf_value *tokens;
	int64_t pooling = POOLING_NONE;
	struct why w;

	cli_must(c, !(set->file = gguf_open(models_path(set->model, &w), 0, &w))
	    || architecture_integer(set->file, "pooling_type", 0, POOLINGS - 1, &pooling, &w) < 0, &w);
	if (pool ? !strcmp(pool, "none") : pooling == POOLING_NONE)
		cli_die(c, "%s: --requests: no pooling, which makes one row of a text (--pool)", set->model);
	items->pairs = pool ? !strcmp(pool, "rank") : pooling == POOLING_RANK;
	tokens = gguf_find(set->file, "tokenizer.ggml.tokens");
	items->n_vocab = tokens ? (int64_t)tokens->n : 0;
}

static void end_commands(struct settings *set, const struct cli *c, const char *pool)
{
	add(set, c, PIPELINE_FWD, "--pool");
	if (pool)
		add(set, c, PIPELINE_FWD, pool);
	add(set, c, PIPELINE_TOK, set->pipeline.items.pairs ? "--pair" : "--lines");
	for (int i = 0; i < PIPELINE_STAGES; i++) {
		add(set, c, i, "--");
		add(set, c, i, set->model);
	}
}

void settings_read(struct settings *set, struct cli *c)
{
	struct items *items = &set->pipeline.items;
	const char *pool = NULL;
	const struct opt *o;
	char *prefix = NULL;
	struct why w;

	*set = (struct settings){ .normalize = SCALE_EUCLIDEAN };
	start_commands(set, c);
	while ((o = cli_next(c)))
		switch (o->letter) {
		case LINES: items->kind = ITEMS_LINES; break;
		case FILES: items->kind = ITEMS_FILES; break;
		case JSONL: items->kind = ITEMS_JSON; break;
		case REQUESTS:
			items->kind = ITEMS_JSON;
			items->requests = items->without_text = 1;
			set->kind = OUTPUT_ANSWERS;
			break;
		case PAIR: items->pairs = 1; break;
		case PREFIX: items->prefix = c->value; break;
		case NO_TEXT: items->without_text = 1; break;
		case NO_PARSE_SPECIAL: add(set, c, PIPELINE_TOK, "--no-parse-special"); break;
		case TRUNCATE: add(set, c, PIPELINE_FWD, "--truncate"); break;
		case POOL: pool = cli_word(c, o); break;
		case NORMALIZE:
			set->normalize = (int)cli_integer(c, o, SCALE_NONE, NORM_MAX);
			set->normalizes = 1;
			break;
		case DIMENSIONS: set->dimensions = (size_t)cli_integer(c, o, 1, FRAME_IDS_MAX); break;
		case RAW: set->kind = OUTPUT_RAW; break;
		case NPY: set->kind = OUTPUT_NPY; break;
		case LORA: take_adapter(set, c, &prefix); break;
		case 't': pass(set, c, "--threads"); break;
		case 'c': pass(set, c, "--ctx-size"); break;
		case 'b': pass(set, c, "--batch-size"); break;
		case BACKEND: pass(set, c, "--backend"); break;
		}
	if (!items->prefix)
		items->prefix = prefix;
	take_operands(set, c);
	/* else it would be for whichever stage is the first to need it to say that there is none */
	cli_must(c, set->model && !models_path(set->model, &w), &w);
	if (set->model && items->requests)
		read_model(set, c, pool);
	if (set->model)
		end_commands(set, c, pool);
	else
		check_filter(c);
}
