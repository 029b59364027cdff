/* Each option is taken into the request. Most values are checked by the stages. */
#include "options_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/slurp.h"
#include "lib/chat/chat_opts.h"
#include "lib/gguf/models.h"
#include "lib/sampler/opts.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/sampler.h"
#include "gen/loop/draft.h"
#include "gen/loop/loop.h"
#include "options.h"
#include "record.h"
#include "tables.h"

enum { PATH_MOST = 4096 };

/* --stage NAME=COMMAND */
static void replace(struct request *q, const struct cli *c)
{
	static const struct { const char *name; enum stage_number stage; } own[] = {
		{ "tok", TOK }, { "fwd", FWD }, { "sample", SAMPLE }, { "detok", DETOK }
	};
	const char *command = strchr(c->value, '=');

	for (size_t i = 0; command && i < sizeof own / sizeof *own; i++) {
		struct stage *s = &q->stage[own[i].stage];
		size_t n = strlen(own[i].name);
		struct why w;

		if (n != (size_t)(command - c->value) || strncmp(c->value, own[i].name, n))
			continue;
		s->shell = 1;
		cli_must(c, stage_arg(s, "sh", &w) || stage_arg(s, "-c", &w) || stage_arg(s, command + 1, &w), &w);
		return;
	}
	cli_usage(c, "--stage: \"%s\" is not STAGE=COMMAND, where STAGE is tok, fwd, sample or detok", c->value);
}

/* A grammar or schema, by any of four options. */
static void take_grammar(struct request *q, const struct cli *c, const struct opt *o)
{
	q->grammar = 1;
	if ((strstr(o->name, "-file") || !strcmp(o->name, "schema")) && slurp_is_stdin(c->value))
		q->constraint = o->name;
	if (!strcmp(o->name, "grammar-file"))
		q->grammar_name = c->value;
}

static void take(struct request *q, const struct cli *c, const struct opt *o)
{
	switch (o->letter) {
	case 'p': q->prompt = c->value; break;
	case 'f': q->file = c->value; break;
	case 'e': q->escape = 1; break;
	case APPEND: q->append = 1; break;
	case ECHO: q->echo = 1; break;
	case LINES: q->lines = c->value; q->listed = 1; break;
	case 'j': q->jobs = (int)cli_integer(c, o, 1, LOOP_JOBS_MAX); break;
	case BEST_OF: q->best_of = 1; q->texts = (int)cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
	case 'N': q->listed = 1; q->texts = (int)cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
	case PENALTY: cli_real(c, o, 0, 10); break;
	case ALL: q->all = 1; break;
	case 'i': q->interactive = 1; /* fall through */
	case CONVERSATION: q->conversation = 1; break;
	case OPT_TOOLS: q->tools = q->templated = 1; break;
	case TOOL_COMMAND: q->tool_command = c->value; break;
	case TOOL_TIME: q->tool_time = (int)cli_integer(c, o, 1, 24 * 60 * 60); break;
	case YES: q->yes = 1; break;
	case HISTORY: q->history = c->value; /* fall through */
	case OPT_SYSTEM: case OPT_SET: case OPT_TEMPLATE: case OPT_NAME: q->templated = 1; break;
	case 's': q->seed = cli_integer(c, o, -1, INT64_MAX); q->seeded = q->seed >= 0; break;
	case 'n': q->n = cli_integer(c, o, -1, INT32_MAX); break;
	case REQUESTS: q->requests = 1; break;
	case ORDERED: q->ordered = 1; break;
	case RESUME: q->resume = c->value; break;
	case CACHE: q->cache = cli_integer(c, o, 0, INT32_MAX); break;
	case OPT_GREEDY: q->greedy = 1; break;
	case OPT_BUDGET: q->budget = (int32_t)cli_integer(c, o, 0, INT32_MAX); break;
	case OPT_GUMBEL: q->gumbel = 1; break;
	case JSON_SCHEMA: q->schema = 1; /* fall through */
	case OPT_GRAMMAR: take_grammar(q, c, o); break;
	case LENIENT: q->lenient = 1; break;
	case STOP: q->stop = 1; break;
	case 'v': q->verbose = 1; break;
	case JSON: q->json = 1; break;
	case LOGPROBS: cli_integer(c, o, 0, SAMPLER_BEST_MAX); q->likely = 1; break;
	case COLOR: q->color = !c->value || strcmp(c->value, "off"); break;
	case VERIFY: q->verify = c->value; break;
	case 'm': q->model = c->value; break;
	case 'c': cli_integer(c, o, 0, INT32_MAX); break;
	case 't': cli_integer(c, o, -1, INT32_MAX); break;
	case OPT_KV: q->kv = c->value; break;
	case HOSTS: q->hosts = c->value; break;
	case DRAFT_MODEL: q->draft = c->value; break;
	case DRAFT_MAX: cli_integer(c, o, 1, GUESSES_MAX); break;
	case OWN: replace(q, c); break;
	case PRINT: q->print_pipeline = 1; break;
	case THINK: q->think = 1; break;
	case NO_THINK: q->think = -1; break;
	case NO_STDIN: q->no_stdin = 1; break;
	}
	q->pieces |= sampler_opt_of_text(o) || o->letter == JSON_SCHEMA;
}

void options_check_file(const char *path, const struct cli *c)
{
	struct stat st;

	if (stat(path, &st) || access(path, R_OK))
		cli_die(c, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		cli_die(c, "%s: %s", path, strerror(EISDIR));
}

/* The program is a file, not a command of the shell. */
static void check_tool_command(struct request *q, const struct cli *c)
{
	static char path[PATH_MOST];
	struct stat st;

	if ((size_t)snprintf(path, sizeof path, "%s%s", strchr(q->tool_command, '/') ? "" : "./", q->tool_command)
	    >= sizeof path)
		cli_die(c, "--tool-command: %s", strerror(ENAMETOOLONG));
	if (stat(path, &st) || access(path, X_OK))
		cli_die(c, "--tool-command: %s: %s", q->tool_command, strerror(errno));
	if (S_ISDIR(st.st_mode))
		cli_die(c, "--tool-command: %s: %s", q->tool_command, strerror(EISDIR));
	if (!q->yes && !isatty(STDERR_FILENO))
		cli_usage(c, "--tool-command requires --yes where standard error is no terminal on which it could ask");
	q->tool_command = path;
}

void options_take(struct request *q, struct cli *c)
{
	const struct opt *o;

	*q = (struct request){ .program = c->program, .speaker = c->program, .seed = -1, .texts = 1, .budget = -1,
		.tool_time = 60, .n = -1, .cache = -1 };
	while ((o = cli_next(c)))
		take(q, c, o);
	if (q->tool_command)
		check_tool_command(q, c);
	q->given = c->given;
	q->n_given = c->n_given;
	if (!q->budget)
		q->think = -1;
	if (q->json && q->grammar_name && !q->constraint)
		options_check_file(q->grammar_name, c);
	if (q->seed < 0)
		q->seed = (int64_t)(rng_seed() >> 33);
	if (q->texts > 1 && q->seed > INT64_MAX - q->texts)
		cli_usage(c, "--seed: there are no %d seeds from %" PRId64 " on", q->texts, q->seed);
}

void options_record(struct request *q, const struct request *user, struct cli *c)
{
	const struct record *record = q->record;
	struct cli_given *all = calloc(record->n_given + user->n_given, sizeof *all);
	struct why w;

	if (!all)
		cli_die(c, "out of memory");
	q->given = all;
	memcpy(all, record->given, record->n_given * sizeof *all);
	memcpy(all + record->n_given, user->given, user->n_given * sizeof *all);
	q->n_given = record->n_given + user->n_given;
	q->model = record->model;
	q->texts = q->json = 1;
	q->marks = record->marks;
	q->grammar = q->pieces = record->grammar != NULL;
	for (size_t i = 0; i < q->n_given; i++) {
		c->value = all[i].value;
		take(q, c, all[i].o);
	}
	q->seed = record->seed;
	cli_must(c, !(q->model = models_path(q->model, &w)), &w);
}
