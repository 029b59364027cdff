/* The options of near. */
#include "settings.h"

#include <string.h>

#include "lib/base/size.h"
#include "lib/base/system.h"
#include "lib/gguf/models.h"
#include "lib/process/find.h"
#include "vectors.h"

enum { DIMENSIONS = 1, TEXTS, COSINE, JSON, QUERY, PREFIX, POOL, RERANK, CANDIDATES };
enum { MOST = 10, RANKED = 50, MOST_MAX = 1 << 24, THREADS_MAX = 256 };

const struct opt settings_opts[] = {
	{ QUERY, "query", "TEXT", "search for this text instead of queries from standard input" },
	{ 'm', "model", "MODEL", "embeds the text of --query" },
	{ PREFIX, "prefix", "TEXT", "put this before the text of --query for the model" },
	{ POOL, "pool", "mean|cls|last", "how the model's rows become one (default: as the file says)" },
	{ 'n', "results", "N", "print the N nearest (default: 10)" },
	{ DIMENSIONS, "dimensions", "N", "VECTORS is raw little-endian floats (F32), N for each vector" },
	{ TEXTS, "texts", "FILE", "the texts of the vectors, a line each" },
	{ COSINE, "cosine", NULL, "the score is the cosine (default: the inner product)" },
	{ RERANK, "rerank", "MODEL", "rank the nearest again by this model's scores of query and text" },
	{ CANDIDATES, "candidates", "N", "with --rerank: the N nearest (default: 50)" },
	{ JSON, "json", NULL, "print a JSON object for each query" },
	{ 't', "threads", "N", "number of threads (default: the cores of this machine)" },
	{ 0 }
};

const struct cli_rule settings_rules[] = {
	{ "query", .requires = "model" },
	{ "model prefix pool", .requires = "query" },
	{ "candidates", .requires = "rerank" },
	{ 0 }
};

static void add(struct stage *s, const struct cli *c, const char *word)
{
	struct why w;

	cli_must(c, stage_arg(s, word, &w), &w);
}

/* The beginning of a command of embed, and of its end. */
static void start_command(struct stage *s, const struct cli *c)
{
	*s = (struct stage){ .name = "embed", .program = "embed", .quiet = 1 };
	add(s, c, find_program(c->argv[0], "near", "embed"));
	add(s, c, "--jsonl");
}

static void end_command(struct stage *s, const struct cli *c, const char *model)
{
	struct why w;

	cli_must(c, !models_path(model, &w), &w);
	add(s, c, "--");
	add(s, c, model);
}

void settings_read(struct settings *set, struct cli *c)
{
	const char *model = NULL;
	const struct opt *o;

	*set = (struct settings){ .most = MOST, .threads = system_cores(), .candidates = RANKED };
	start_command(&set->embed, c);
	start_command(&set->rank, c);
	add(&set->rank, c, "--pair");
	add(&set->rank, c, "--truncate");
	add(&set->rank, c, "--pool");
	add(&set->rank, c, "rank");
	while ((o = cli_next(c)))
		switch (o->letter) {
		case 'n': set->most = (size_t)cli_integer(c, o, 1, MOST_MAX); break;
		case DIMENSIONS: set->dimensions = (size_t)cli_integer(c, o, 1, VECTORS_COLS_MAX); break;
		case TEXTS: set->texts = c->value; break;
		case COSINE: set->cosine = 1; break;
		case QUERY: set->query = c->value; break;
		case 'm': model = c->value; break;
		case PREFIX:
			add(&set->embed, c, "--prefix");
			add(&set->embed, c, c->value);
			break;
		case POOL:
			add(&set->embed, c, "--pool");
			add(&set->embed, c, cli_word(c, o));
			break;
		case RERANK: set->reranker = c->value; break;
		case CANDIDATES: set->candidates = (size_t)cli_integer(c, o, 1, MOST_MAX); break;
		case JSON: set->as_json = 1; break;
		case 't': set->threads = (size_t)cli_integer(c, o, 1, THREADS_MAX); break;
		}
	if (c->argc != 1)
		cli_usage(c, "%s file of vectors (try --help)", c->argc ? "more than one" : "no");
	set->vectors = c->argv[0];
	if (!strcmp(set->vectors, "-") && !set->query)
		cli_usage(c, "the vectors cannot be standard input: the queries are");
	if (model)
		end_command(&set->embed, c, model);
	if (set->reranker)
		end_command(&set->rank, c, set->reranker);
	set->candidates = size_max(set->candidates, set->most);
}
