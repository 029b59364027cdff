/* The table of options, and what becomes of each; those of the stages go to them as they are. */
#include "options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/chat/chat_opts.h"
#include "lib/sampler/opts.h"
#include "lib/sampler/rng.h"
#include "best.h"
#include "console.h"
#include "draft.h"

enum { TO_TOK = 1, STAGE, PRINT, SPECIAL, JSON, STOP, GUESS, GUESS_MAX, BEST_OF, PENALTY, ALL, STREAM, CHATS,
	JSON_SCHEMA };

const struct opt options_table[] = {
	{ 'm', "model", "FILE", "the model (default: $LMPIPE_MODEL, or else the shipped model)" },
	{ 'n', "n-predict", "N", "stop after N tokens (default: at the end of generation, or of the context)" },
	{ 'v', "verbose", NULL, "print tokens, probabilities and times on stderr" },
	{ STREAM, "stream", NULL, "print each token at once, also with --greedy and --gumbel into a file or a pipe" },
	{ JSON, "json", NULL, "print one line of JSON in place of the text: ids, text, log-probabilities, times" },
	{ STOP, "stop", "TEXT", "stop before this text; \\n is a new line; repeatable" },
	{ JSON_SCHEMA, "json-schema", "TEXT", "draw only JSON that matches this schema" },
	{ JSON_SCHEMA, "json-schema-file", "FILE", "the same from a file" },
	{ GUESS, "draft", "MODEL", "guess tokens with a small model, so that fwd evaluates several at once;\n"
		"lookup: guess from repetitions in the text" },
	{ GUESS_MAX, "draft-max", "N", "guess N tokens at once (default: 4)" },
	{ BEST_OF, "best-of", "N", "generate N texts, with seeds from -s on, and print the most likely" },
	{ PENALTY, "length-penalty", "A", "score: the log-probability over the length to the power of A (default: 1)" },
	{ ALL, "all", NULL, "with --best-of: print all of them, the best first" },
	{ CHATS, "chat", NULL, "a conversation: each line of stdin is a turn, its answer a line or more of stdout" },
	{ 'i', "interactive", NULL, "the same with a prompt; ^C ends an answer, ^D or ^C twice the conversation" },
	{ STAGE, "stage", "NAME=COMMAND", "run the shell's COMMAND in place of tok, fwd, sample or detok" },
	{ PRINT, "print-pipeline", NULL, "print the shell commands that do the same, and exit" },
	{ SPECIAL, "special", NULL, "show control tokens" },
	{ TO_TOK, "bos", NULL, "begin with BOS" },
	{ TO_TOK, "no-bos", NULL, "begin without BOS" },
	{ TO_TOK, "no-parse-special", NULL, "treat control tokens in the prompt as plain text" },
	{ 's', "seed", "N", "seed of the draws (default: a random one, shown by -v)" },
	{ 0 }
};

static void add(struct request *q, const struct cli *c, enum stage_number stage, const char *arg)
{
	struct why w;

	/* argv[0] comes when all is known. */
	if (!q->stage[stage].n)
		q->stage[stage].n = 1;
	if (stage_arg(&q->stage[stage], arg, &w))
		cli_usage(c, "%s", w.text);
}

static void add_value(struct request *q, const struct cli *c, enum stage_number stage, const char *option,
	const char *value)
{
	if (!value)
		return;
	add(q, c, stage, option);
	add(q, c, stage, value);
}

/* An option of a stage, in its long form. */
static void pass(struct request *q, const struct cli *c, const struct opt *o, enum stage_number stage)
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
	static const enum stage_number replaceable[] = { TOK, FWD, SAMPLE, DETOK };
	const char *command = strchr(value, '=');

	for (size_t i = 0; command && i < sizeof replaceable / sizeof *replaceable; i++) {
		struct stage *s = &q->stage[replaceable[i]];

		if (strlen(s->name) == (size_t)(command - value) && !strncmp(value, s->name, strlen(s->name))) {
			s->command = command + 1;
			return;
		}
	}
	cli_usage(c, "--stage: '%s' is not tok, fwd, sample or detok, '=' and a command", value);
}

static void add_stop(struct request *q, const struct cli *c)
{
	if (!*c->value)
		cli_usage(c, "--stop: an empty string");
	if (q->n_stop == (int)(sizeof q->stop / sizeof *q->stop))
		cli_usage(c, "--stop: more than %d of them", q->n_stop);
	q->stop[q->n_stop++] = c->value;
}

/* schema turns it into a grammar, which is sample's. */
static void take_schema(struct request *q, const struct cli *c, const struct opt *o)
{
	if (stage_used(&q->stage[SCHEMA]))
		cli_usage(c, "--%s: one schema at a time", o->name);
	if (strstr(o->name, "file"))
		add(q, c, SCHEMA, "--file");
	else
		add(q, c, SCHEMA, "--");
	add(q, c, SCHEMA, c->value);
	q->of_text = 1;
}

/* How sample is to draw; and whether a chain inside fwd could do the same. */
static void take_sampling(struct request *q, const struct cli *c, const struct opt *o)
{
	if (sampler_opt_of_text(o))
		q->of_text = 1;
	else if (o->letter == 'n')
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
	pass(q, c, o, SAMPLE);
}

static void take(struct request *q, struct cli *c, const struct opt *o)
{
	switch (o->letter) {
	case 'm': q->model = c->value; break;
	case 'v': q->verbose = 1; break;
	case 's': q->seed = cli_integer(c, o, -1, INT64_MAX); break;
	case STAGE: replace(q, c, c->value); break;
	case PRINT: q->print = 1; break;
	case STREAM: q->stream = 1; break;
	case JSON: q->json = 1; break;
	case STOP: add_stop(q, c); break;
	case JSON_SCHEMA: take_schema(q, c, o); break;
	case CHATS: q->chat = 1; break;
	case 'i': q->chat = q->interactive = 1; break;
	case SPECIAL: q->special = 1; break;
	case TO_TOK: pass(q, c, o, TOK); break;
	case OPT_SYSTEM: case OPT_TOOLS: case OPT_SET: case OPT_TEMPLATE: case OPT_NAME:
		q->chat_options = 1;
		pass(q, c, o, CHAT);
		break;
	case 't': q->threads = c->value; pass(q, c, o, FWD); break;
	case OPT_BACKEND: q->backend = c->value; pass(q, c, o, FWD); break;
	case OPT_KV: q->kv = c->value; pass(q, c, o, FWD); break;
	case 'c': case 'b': case OPT_KV_TYPE: pass(q, c, o, FWD); break;
	case GUESS: q->draft = c->value; break;
	case GUESS_MAX: q->draft_max = (int)cli_integer(c, o, 1, DRAFT_MAX); break;
	case BEST_OF: q->best_of = (int)cli_integer(c, o, 1, BEST_MAX); break;
	case PENALTY: cli_real(c, o, 0, 10); q->penalty = c->value; break;
	case ALL: q->all = 1; break;
	default: take_sampling(q, c, o);
	}
}

/* ---- what does not go together ---- */

static void check_chat(const struct request *q, const struct cli *c)
{
	if (!q->chat && q->chat_options)
		cli_usage(c, "--system, --tools, --set, --template and --template-name are for --chat and -i");
	if (q->chat && (q->stage[TOK].n || q->stage[TOK].command))
		cli_usage(c, "--bos, --no-bos, --no-parse-special and --stage tok: not for a conversation: "
			"the chat template decides");
	if (q->chat && q->print)
		cli_usage(c, "--print-pipeline: a conversation is more than a pipeline; "
			"its first turn is chat | tok --no-bos | ...");
	if (q->interactive && q->json)
		cli_usage(c, "--json: with --chat, not with -i");
}

static void check(const struct request *q, const struct cli *c)
{
	const char *option = q->draft ? "--draft" : "--best-of";

	check_chat(q, c);
	if (q->draft && q->best_of)
		cli_usage(c, "--draft and --best-of exclude each other");
	if (q->best_of && q->seed > INT64_MAX - q->best_of)
		cli_usage(c, "--best-of: there are no %d seeds from %" PRId64 " on", q->best_of, q->seed);
	if (q->all && !q->best_of)
		cli_usage(c, "--all requires --best-of");
	if (q->all && q->json)
		cli_usage(c, "--all and --json exclude each other: the line is about the best text");
	if ((q->draft || q->best_of) && (q->chat || q->stage[FWD].command))
		cli_usage(c, "%s: not with --chat, -i or --stage fwd", option);
	if (q->best_of && q->stage[SAMPLE].command)
		cli_usage(c, "--best-of: not with --stage sample, whose log-probabilities it needs");
	if (q->json && (q->stage[DETOK].command || q->print))
		cli_usage(c, "--json: not with --stage detok or --print-pipeline");
}

void options(struct request *q, struct cli *c)
{
	const struct opt *o;

	q->seed = -1;
	q->draft_max = 4;
	while ((o = cli_next(c)))
		take(q, c, o);
	if (q->seed < 0)
		q->seed = (int64_t)(rng_seed() >> 33);
	if (c->argc > 1)
		cli_usage(c, "one prompt at most: quote it (try --help)");
	q->prompt = c->argc ? c->argv[0] : NULL;
	check(q, c);
}

/* ---- the commands ---- */

/* Whether fwd can draw (--chain): no option asks for what only sample can do, or needs the ids one by one. It
 * draws as sample does: the largest logit, or with the same noise. */
static int can_chain(const struct request *q)
{
	int draws = (q->greedy || q->gumbel) && !q->sampling && !q->of_text && !q->logprobs;
	int loops = q->chat || q->n_stop || q->draft || q->best_of;

	return draws && !loops && !q->stage[FWD].command && !q->stage[SAMPLE].command;
}

static void command_noise(struct request *q, const struct cli *c, enum stage_number stage)
{
	if (!q->gumbel || q->greedy)
		return;
	add_value(q, c, stage, "--temp", q->temp ? q->temp : "0.8");
	add_value(q, c, stage, "--seed", q->seed_text);
}

/* One id at a time where someone may be watching. */
static void command_chain(struct request *q, const struct cli *c)
{
	add_value(q, c, FWD, "--chain", q->stream || isatty(STDOUT_FILENO) ? "1" : "16");
	add_value(q, c, FWD, "-n", q->n);
	if (q->ignore_eos)
		add(q, c, FWD, "--ignore-eos");
	command_noise(q, c, FWD);
	add(q, c, DETOK, "--generated");
}

/* The n-th id is not evaluated, unless it has to stay in a named segment; a sampler of the user's is bounded here
 * alone. */
static void command_feed(struct request *q, const struct cli *c)
{
	q->stage[FEED].n = 1;
	if (q->stage[SAMPLE].command || (!q->kv && !q->chat && !q->stage[FWD].command))
		add_value(q, c, FEED, "-n", q->n);
	if (q->draft) {
		snprintf(q->most_text, sizeof q->most_text, "%d", q->draft_max);
		add_value(q, c, FEED, "--draft", q->draft);
		add_value(q, c, FEED, "--draft-max", q->most_text);
	}
	if (q->draft && strcmp(q->draft, "lookup")) {
		add_value(q, c, FEED, "--threads", q->threads);
		add_value(q, c, FEED, "--backend", q->backend);
		command_noise(q, c, FEED);
	}
	if (q->best_of) {
		snprintf(q->repeat_text, sizeof q->repeat_text, "%d", q->best_of);
		add_value(q, c, FEED, "--repeat", q->repeat_text);
	}
}

static void command_best(struct request *q, const struct cli *c)
{
	add(q, c, SAMPLE, "--turns");
	add_value(q, c, SAMPLE, "--seed-step", "1");
	add_value(q, c, BEST, "--seed", q->seed_text);
	add_value(q, c, BEST, "--length-penalty", q->penalty);
	if (q->all)
		add(q, c, BEST, "--all");
	if (q->verbose)
		add(q, c, BEST, "--verbose");
}

/* detok prints as far as a stop string and exits; a loop that has to know of it, or goes on, has a filter as well. */
static void command_text(struct request *q, const struct cli *c)
{
	int terminal = isatty(STDOUT_FILENO), many = q->chat || q->best_of;
	int prompts = q->interactive && terminal && isatty(STDIN_FILENO);

	if (q->n_stop && (many || q->json || q->verbose)) {
		add(q, c, STOPS, "--frames");
		if (many)
			add(q, c, STOPS, "--turns");
	}
	if (many || stage_used(&q->stage[STOPS]))
		add(q, c, DETOK, "--turns");
	if (q->chat || q->all || (terminal && !q->json))
		add_value(q, c, DETOK, "--suffix", prompts ? "\n" CONSOLE_PROMPT : "\n");
	for (int i = 0; i < q->n_stop; i++) {
		add_value(q, c, DETOK, "--stop", q->stop[i]);
		if (stage_used(&q->stage[STOPS]))
			add_value(q, c, STOPS, "--stop", q->stop[i]);
		if (q->chat)
			add_value(q, c, ANSWER, "--stop", q->stop[i]);
	}
	if (q->special)
		add(q, c, DETOK, "--special");
	if (q->special && stage_used(&q->stage[STOPS]))
		add(q, c, STOPS, "--special");
}

/* The programs, and the model as the last argument of those that want it. */
static void finish(struct request *q, const struct cli *c, const char *argv0)
{
	static const struct { enum stage_number stage; const char *program; int model; } all[] = {
		{ SCHEMA, "schema", 0 }, { TOK, "tok", 1 }, { FEED, "feed", 0 }, { FWD, "fwd", 1 },
		{ SAMPLE, "sample", 0 }, { STOPS, "detok", 1 }, { TEE, "tee", 0 }, { BEST, "best", 0 },
		{ DETOK, "detok", 1 }, { CHAT, "chat", 1 }, { ANSWER, "detok", 1 }, { KV, "kv", 0 }
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct stage *s = &q->stage[all[i].stage];

		if (!stage_used(s))
			continue;
		s->program = all[i].program;
		if (all[i].model && !s->command)
			add(q, c, all[i].stage, q->model);
		s->argv[0] = find_program(q->program[all[i].stage], argv0, c->program, all[i].program);
	}
}

void commands(struct request *q, const struct cli *c, const char *argv0)
{
	snprintf(q->seed_text, sizeof q->seed_text, "%" PRId64, q->seed);
	add_value(q, c, SAMPLE, "--seed", q->seed_text);
	q->logprobs = (q->verbose || q->json || q->best_of) && !q->stage[SAMPLE].command;
	if (q->logprobs)
		add_value(q, c, SAMPLE, "--logprobs", "0");
	if (q->of_text)
		add_value(q, c, SAMPLE, "--model", q->model);
	q->chained = can_chain(q);
	q->stage[TOK].n += !q->stage[TOK].n;
	q->stage[FWD].n += !q->stage[FWD].n;
	q->stage[DETOK].n += !q->stage[DETOK].n;
	/* In a chain, too: so that the stages end with gen. */
	q->stage[TEE].n = 1;
	if (q->chained)
		command_chain(q, c);
	else
		command_feed(q, c);
	if (q->best_of)
		command_best(q, c);
	/* With --turns sample outlives its end, and so fwd finishes what a named segment is to hold. */
	if (q->chat || (q->kv && !q->best_of && !q->chained))
		add(q, c, SAMPLE, "--turns");
	if (q->chat) {
		add(q, c, TOK, "--no-bos");
		q->stage[CHAT].n += !q->stage[CHAT].n;
		q->stage[ANSWER].n += !q->stage[ANSWER].n;
		add_value(q, c, KV, "ids", q->kv);
	} else {
		q->stage[PROMPT].text = q->prompt;
	}
	command_text(q, c);
	for (int i = 0; i < STAGES; i++)
		q->stage[i].uninterrupted = q->interactive;
	finish(q, c, argv0);
}
