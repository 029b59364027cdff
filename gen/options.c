/* The table of options, and what becomes of each; those of the stages go to them as they are. */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/chat/chat_opts.h"
#include "fwd/fwd_opts.h"
#include "lib/base/quote.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/opts.h"
#include "lib/stream/stop.h"
#include "best.h"
#include "draft.h"
#include "person.h"

enum { TO_TOK = 1, STAGE, PRINT, SPECIAL, JSON, STOP, GUESS, GUESS_MAX, BEST_OF, PENALTY, ALL, STREAM, CHAT };

const struct opt options_table[] = {
	{ 'm', "model", "FILE", "the model (default: $LMPIPE_MODEL, then the embedded one)" },
	{ 'n', "n-predict", "N", "stop after N ids (default: at the end of generation, or of the context)" },
	{ 'v', "verbose", NULL, "ids, probabilities and times on stderr" },
	{ STREAM, "stream", NULL, "print each id as soon as it is there, also with --greedy and --gumbel into a file or a pipe" },
	{ JSON, "json", NULL, "in place of the text one line of JSON: ids, text, log-probabilities, times" },
	{ STOP, "stop", "TEXT", "stop before this text; \\n is a new line; repeatable" },
	{ GUESS, "draft", "MODEL", "guess ids by a small model and evaluate several at once; lookup: by what stood there before" },
	{ GUESS_MAX, "draft-max", "N", "how many at once (default: 4)" },
	{ BEST_OF, "best-of", "N", "generate N texts, with seeds from -s on, and print the likeliest" },
	{ PENALTY, "length-penalty", "A", "the likeliest: by its log-probability over its length to the power of A (default: 1)" },
	{ ALL, "all", NULL, "print all of them, the best first" },
	{ CHAT, "chat", NULL, "a conversation: each line of stdin is a turn, and its answer a line or more of stdout" },
	{ 'i', "interactive", NULL, "the same with a prompt; ^C ends an answer, ^D or ^C twice the conversation" },
	{ STAGE, "stage", "NAME=COMMAND", "run the shell's COMMAND in place of tok, fwd, sample or detok" },
	{ PRINT, "print-pipeline", NULL, "print the shell commands that do the same, and stop" },
	{ SPECIAL, "special", NULL, "show control tokens" },
	{ TO_TOK, "bos", NULL, "begin with BOS" },
	{ TO_TOK, "no-bos", NULL, "begin without BOS" },
	{ TO_TOK, "no-parse-special", NULL, "control tokens in the prompt are plain text" },
	{ 's', "seed", "N", "seed of the draws (default: a random one, -v tells)" },
	{ 0 }
};

static void add(struct request *q, const struct cli *c, int stage, const char *arg)
{
	struct why w;

	if (stage_arg(&q->stage[stage], arg, &w))
		cli_usage(c, "%s", w.text);
}

static void add_value(struct request *q, const struct cli *c, int stage, const char *option, const char *value)
{
	add(q, c, stage, option);
	add(q, c, stage, value);
}

/* An option of a stage, in its long form. */
static void pass(struct request *q, const struct cli *c, const struct opt *o, int stage)
{
	char *s = malloc(strlen(o->name) + 3);

	if (!s)
		cli_die(c, "out of memory");
	sprintf(s, "--%s", o->name);
	add(q, c, stage, s);
	if (c->value)
		add(q, c, stage, c->value);
}

/* --stage NAME=COMMAND */
static void replace(struct request *q, const struct cli *c, const char *value)
{
	const char *command = strchr(value, '=');

	for (int i = 0; command && i < FEED; i++)
		if (strlen(q->stage[i].name) == (size_t)(command - value) && !strncmp(value, q->stage[i].name, strlen(q->stage[i].name))) {
			q->stage[i].command = command + 1;
			return;
		}
	cli_usage(c, "--stage: '%s' is not tok, fwd, sample or detok, '=' and a command", value);
}

static void check_chat(const struct request *q, const struct cli *c)
{
	const struct chat_setup *s = &q->setup;

	if (!q->chat && (s->system || s->tools || s->template || s->name || s->n_set))
		cli_usage(c, "--system, --tools, --set, --template and --template-name are for --chat and -i");
	if (s->template && s->name)
		cli_usage(c, "--template and --template-name: one of the two");
	if (q->chat && (q->stage[TOK].n > 1 || q->stage[TOK].command))
		cli_usage(c, "--bos, --no-bos, --no-parse-special and --stage tok: not for a conversation: its template says what is where");
	if (q->chat && q->print)
		cli_usage(c, "--print-pipeline: a conversation is more than a pipeline; its first turn is chat | tok --no-bos | ...");
	if (q->interactive && q->json)
		cli_usage(c, "--json: --chat has it, -i is for people");
}

/* What needs gen between fwd and sample. */
static void check_relay(const struct request *q, const struct cli *c)
{
	const char *option = q->draft ? "--draft" : "--best-of";

	if (q->draft && q->best_of)
		cli_usage(c, "--draft and --best-of: one of the two");
	if (q->best_of && q->seed > INT64_MAX - q->best_of)
		cli_usage(c, "--best-of: no %d seeds from %" PRId64 " on", q->best_of, q->seed);
	if (q->all && !q->best_of)
		cli_usage(c, "--all: which, is for --best-of to say");
	if (q->all && q->json)
		cli_usage(c, "--all and --json: one of the two; the line is that of the best");
	if (q->relayed && (q->chat || q->print || q->stage[FWD].command))
		cli_usage(c, "%s: not with --chat, -i, --print-pipeline or --stage fwd", option);
	if (q->best_of && q->stage[SAMPLE].command)
		cli_usage(c, "--best-of: not with --stage sample, whose log-probabilities it needs");
}

/* A fwd that picks itself picks as sample does: the largest logit, or with the same noise. */
static void command_noise(struct request *q, const struct cli *c, int stage)
{
	if (!q->gumbel || q->greedy)
		return;
	add_value(q, c, stage, "--temp", q->temp ? q->temp : "0.8");
	add_value(q, c, stage, "--seed", q->seed_text);
}

/* By the id where someone may be looking. */
static void command_chain(struct request *q, const struct cli *c)
{
	add_value(q, c, FWD, "--chain", q->stream || isatty(STDOUT_FILENO) ? "1" : "16");
	if (q->n)
		add_value(q, c, FWD, "-n", q->n);
	if (q->ignore_eos)
		add(q, c, FWD, "--ignore-eos");
	command_noise(q, c, FWD);
}

/* Nothing is asked for that only sample can do, or that needs the ids one by one. */
static int chains(const struct request *q)
{
	int picks = (q->greedy || q->gumbel) && !q->sampling && !q->of_text && !q->logprobs;

	return picks && !q->chat && !q->print && !q->stop && !q->relayed && !q->stage[FWD].command && !q->stage[SAMPLE].command;
}

/* The small model guesses as many ids as asked for after each frame. */
static void command_draft(struct request *q, const struct cli *c, const char *program)
{
	static char most[24];

	snprintf(most, sizeof most, "%zu", q->draft_max);
	q->stage[DRAFT].argv[0] = program;
	add_value(q, c, DRAFT, "--chain", most);
	add_value(q, c, DRAFT, "-n", most);
	command_noise(q, c, DRAFT);
	add(q, c, DRAFT, q->draft);
}

/* --stop: for detok, which stops printing there, and for the loop, which stops evaluating. */
static void add_stop(struct request *q, const struct cli *c, const struct opt *o)
{
	char *s = malloc(strlen(c->value) + 1);
	struct why w;

	if (!s || (!q->stop && !(q->stop = stop_open(&w))))
		cli_die(c, "out of memory");
	if (stop_add(q->stop, s, quote_undo(c->value, s), &w) < 0)
		cli_usage(c, "--stop: %s", w.text);
	free(s);
	pass(q, c, o, DETOK);
}

/* What a chain inside fwd can do as well, and whether there is anything else. */
static void note(struct request *q, const struct cli *c, const struct opt *o)
{
	if (o->letter == 'n')
		q->n = c->value;
	else if (!strcmp(o->name, "temp"))
		q->temp = c->value;
	else if (!strcmp(o->name, "greedy"))
		q->greedy = 1;
	else if (!strcmp(o->name, "gumbel"))
		q->gumbel = 1;
	else if (!strcmp(o->name, "ignore-eos"))
		q->ignore_eos = 1;
	else
		q->sampling = 1;
}

/* How sample is to draw. */
static void take_sampling(struct request *q, const struct cli *c, const struct opt *o)
{
	if (sampler_opt_of_text(o))
		q->of_text = 1;
	else
		note(q, c, o);
	pass(q, c, o, SAMPLE);
}

static void take(struct request *q, const struct cli *c, const struct opt *o)
{
	struct why w;
	int taken = chat_take(&q->setup, o, c->value, &w);

	if (taken < 0)
		cli_usage(c, "%s", w.text);
	switch (o->letter) {
	case 'm': q->model = c->value; break;
	case 'v': q->verbose = 1; break;
	case 's': q->seed = cli_integer(c, o, -1, INT64_MAX); break;
	case STAGE: replace(q, c, c->value); break;
	case PRINT: q->print = 1; break;
	case STREAM: q->stream = 1; break;
	case JSON: q->json = 1; break;
	case STOP: add_stop(q, c, o); break;
	case CHAT: q->chat = 1; break;
	case 'i': q->chat = q->interactive = 1; break;
	case SPECIAL: q->special = 1; pass(q, c, o, DETOK); break;
	case TO_TOK: pass(q, c, o, TOK); break;
	case 't': case 'c': case 'b': case OPT_BACKEND: case OPT_KV: case OPT_KV_TYPE:
		pass(q, c, o, FWD);
		if (o->letter == 't' || o->letter == OPT_BACKEND)
			pass(q, c, o, DRAFT);
		q->keeps |= o->letter == OPT_KV;
		break;
	case GUESS:
		q->draft = c->value;
		q->lookup = !strcmp(c->value, "lookup");
		break;
	case GUESS_MAX: q->draft_max = (size_t)cli_integer(c, o, 1, DRAFT_MAX); break;
	case BEST_OF: q->best_of = (int)cli_integer(c, o, 1, BEST_MAX); break;
	case PENALTY: q->penalty = cli_real(c, o, 0, 10); break;
	case ALL: q->all = 1; break;
	default:
		if (!taken)
			take_sampling(q, c, o);
	}
}

/* The last of -n, unless there is more to come, or a stage of the user's own may have other plans. */
static size_t last_id(const struct request *q)
{
	return q->n && !q->keeps && !q->chat && !q->stage[FWD].command && !q->stage[SAMPLE].command ? strtoul(q->n, NULL, 10) : 0;
}

void options(struct request *q, struct cli *c)
{
	const struct opt *o;

	q->seed = -1;
	q->draft_max = 4;
	q->penalty = 1;
	while ((o = cli_next(c)))
		take(q, c, o);
	if (q->seed < 0)
		q->seed = (int64_t)(rng_seed() >> 33);
	if (c->argc > 1)
		cli_usage(c, "one prompt at most: quote it (try --help)");
	q->prompt = c->argc ? c->argv[0] : NULL;
	q->relayed = q->draft || q->best_of;
	q->last = last_id(q);
	check_chat(q, c);
	check_relay(q, c);
	if (q->json && (q->stage[DETOK].command || q->print))
		cli_usage(c, "--json: there is no detok then, nor a pipeline that does the same");
}

void commands(struct request *q, const struct cli *c, const struct place *place)
{
	snprintf(q->seed_text, sizeof q->seed_text, "%" PRId64, q->seed);
	add_value(q, c, SAMPLE, "--seed", q->seed_text);
	q->logprobs = (q->verbose || q->json || q->best_of) && !q->stage[SAMPLE].command;
	if (q->logprobs)
		add_value(q, c, SAMPLE, "--logprobs", "0");
	if (q->of_text)
		add_value(q, c, SAMPLE, "--model", q->model);
	if (q->chat)
		add(q, c, SAMPLE, "--turns");
	if (q->chat || q->all) {
		add(q, c, DETOK, "--turns");
		add_value(q, c, DETOK, "--suffix", q->interactive && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? "\n" PERSON_PROMPT : "\n");
	}
	q->chained = chains(q);
	if (q->chained)
		command_chain(q, c);
	if (q->draft)
		add(q, c, FWD, "--all");
	if (q->draft && !q->lookup)
		command_draft(q, c, place->program[FWD]);
	for (int i = TOK; i <= DETOK; i++)
		q->stage[i].deaf = q->interactive;
	for (int i = TOK; i <= DETOK; i++)
		if (i != SAMPLE)
			add(q, c, i, q->model);
	for (int i = TOK; i <= DETOK; i++)
		q->stage[i].argv[0] = place->program[i];
}

