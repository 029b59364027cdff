/* gen: text from a prompt. Starts tok, fwd, sample and detok and loops sample's ids back to fwd; what each option means is the stages' affair. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/cli.h"
#include "../lib/gguf.h"
#include "../lib/rng.h"
#include "gen.h"
#include "person.h"
#include "place.h"

enum { TO_TOK = 1, TO_FWD, TO_SAMPLE, STAGE, PRINT, SPECIAL, CHAT, SYSTEM, TOOLS, SET, TEMPLATE, NAME };

static const struct opt opts[] = {
	{ 'm', "model", "FILE", "the model (default: $LMPIPE_MODEL, then the embedded one)" },
	{ 'n', "n-predict", "N", "stop after N ids (default: at the end of generation, or of the context)" },
	{ 'v', "verbose", NULL, "ids, probabilities and times on stderr" },
	{ CHAT, "chat", NULL, "a conversation: each line of stdin is a turn, and its answer a line or more of stdout" },
	{ 'i', "interactive", NULL, "the same with a prompt; ^C ends an answer, ^D or ^C twice the conversation" },
	{ SYSTEM, "system", "TEXT", "chat: a system message before all others" },
	{ TOOLS, "tools", "FILE", "chat: a JSON array of the tools that the model may call" },
	{ SET, "set", "NAME=VALUE", "chat: a variable of the template's own: JSON, or else text" },
	{ TEMPLATE, "template", "NAME", "chat: chatml, gemma, llama2, llama3, mistral, phi3, or a file (default: the model's own)" },
	{ NAME, "template-name", "NAME", "chat: the model's template of that name" },
	{ STAGE, "stage", "NAME=COMMAND", "run the shell's COMMAND in place of tok, fwd, sample or detok" },
	{ PRINT, "print-pipeline", NULL, "print the shell commands that do the same, and stop" },
	{ SPECIAL, "special", NULL, "show control tokens" },
	{ TO_TOK, "bos", NULL, "begin with BOS" },
	{ TO_TOK, "no-bos", NULL, "begin without BOS" },
	{ TO_TOK, "no-parse-special", NULL, "control tokens in the prompt are plain text" },
	{ 't', "threads", "N", "threads of fwd" },
	{ 'c', "ctx-size", "N", "context" },
	{ 'b', "batch-size", "N", "ids that fwd evaluates at once" },
	{ TO_FWD, "backend", "NAME", "kernels of fwd" },
	{ TO_FWD, "kv", "NAME", "keep the state under this name" },
	{ TO_FWD, "kv-type", "TYPE", "element type of the state" },
	{ 's', "seed", "N", "seed of the draws (default: a random one, -v tells)" },
	{ 'l', "logit-bias", "ID+B", "add B to the logit of ID" },
	{ TO_SAMPLE, "greedy", NULL, "take the most likely id" },
	{ TO_SAMPLE, "temp", "T", "temperature" },
	{ TO_SAMPLE, "top-k", "K", "draw from the K most likely ids" },
	{ TO_SAMPLE, "top-p", "P", "draw from the most likely ids that make up P" },
	{ TO_SAMPLE, "min-p", "P", "drop ids less likely than P times the best" },
	{ TO_SAMPLE, "repeat-penalty", "R", "divide the logits of recent ids" },
	{ TO_SAMPLE, "repeat-last-n", "N", "how many ids are recent" },
	{ TO_SAMPLE, "frequency-penalty", "F", "lower a recent id's logit by F for each time" },
	{ TO_SAMPLE, "presence-penalty", "P", "lower a recent id's logit by P" },
	{ TO_SAMPLE, "ignore-eos", NULL, "never end by itself" },
	{ 0 }
};

static const char *const names[STAGES] = { "tok", "fwd", "sample", "detok", "prompt" };

static struct request q;
static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	if (sig == SIGINT && q.interactive && person_interrupts())
		return;
	interrupted = sig;
	person_leaves();
	stages_kill(q.stage, STAGES, SIGTERM);
}

static void add(const struct cli *c, int stage, const char *arg)
{
	struct why w;

	if (stage_arg(&q.stage[stage], arg, &w))
		cli_usage(c, "%s", w.text);
}

/* An option of a stage, in its long form. */
static void pass(const struct cli *c, const struct opt *o, int stage)
{
	char *s = malloc(strlen(o->name) + 3);

	if (!s)
		cli_die(c, "out of memory");
	sprintf(s, "--%s", o->name);
	add(c, stage, s);
	if (c->value)
		add(c, stage, c->value);
}

/* --stage NAME=COMMAND */
static void replace(const struct cli *c, const char *value)
{
	const char *command = strchr(value, '=');

	for (int i = 0; command && i < FEED; i++)
		if (strlen(names[i]) == (size_t)(command - value) && !strncmp(value, names[i], strlen(names[i]))) {
			q.stage[i].command = command + 1;
			return;
		}
	cli_usage(c, "--stage: '%s' is not tok, fwd, sample or detok, '=' and a command", value);
}

/* An option of a conversation. */
static void chat_option(const struct cli *c, const struct opt *o)
{
	struct chat_setup *s = &q.setup;

	switch (o->letter) {
	case SYSTEM: s->system = c->value; break;
	case TOOLS: s->tools = c->value; break;
	case TEMPLATE: s->template = c->value; break;
	case NAME: s->name = c->value; break;
	case SET:
		if (s->n_set == CHAT_SETS)
			cli_usage(c, "--set: more than %d of them", CHAT_SETS);
		s->set[s->n_set++] = c->value;
		break;
	}
}

static void check_chat(const struct cli *c)
{
	const struct chat_setup *s = &q.setup;

	if (!q.chat && (s->system || s->tools || s->template || s->name || s->n_set))
		cli_usage(c, "--system, --tools, --set, --template and --template-name are for --chat and -i");
	if (s->template && s->name)
		cli_usage(c, "--template and --template-name: one of the two");
	if (q.chat && (q.stage[TOK].n > 1 || q.stage[TOK].command))
		cli_usage(c, "--bos, --no-bos, --no-parse-special and --stage tok: not for a conversation: its template says what is where");
	if (q.chat && q.print)
		cli_usage(c, "--print-pipeline: a conversation is more than a pipeline; its first turn is chat | tok --no-bos | ...");
}

static void options(struct cli *c, int *seeded)
{
	const struct opt *o;
	static char seed[24];

	while ((o = cli_next(c)))
		switch (o->letter) {
		case 'm': q.model = c->value; break;
		case 'v': q.verbose = 1; break;
		case STAGE: replace(c, c->value); break;
		case PRINT: q.print = 1; break;
		case CHAT: q.chat = 1; break;
		case 'i': q.chat = q.interactive = 1; break;
		case SYSTEM: case TOOLS: case SET: case TEMPLATE: case NAME: chat_option(c, o); break;
		case SPECIAL: pass(c, o, DETOK); break;
		case TO_TOK: pass(c, o, TOK); break;
		case 't': case 'c': case 'b': case TO_FWD: pass(c, o, FWD); break;
		case 's': q.seed = c->value; *seeded = strcmp(c->value, "-1") != 0; break;
		case 'n': case 'l': case TO_SAMPLE: pass(c, o, SAMPLE); break;
		}
	if (!*seeded) {
		snprintf(seed, sizeof seed, "%lu", (unsigned long)(rng_seed() >> 33));
		q.seed = seed;
	}
	if (c->argc > 1)
		cli_usage(c, "one prompt at most: quote it (try --help)");
	q.prompt = c->argc ? c->argv[0] : NULL;
	check_chat(c);
}

/* The command of each stage: its program beside gen, its options, the model; or the shell with the user's own. */
static void commands(const struct cli *c, const struct place *place)
{
	add(c, SAMPLE, "--seed");
	add(c, SAMPLE, q.seed);
	if (q.verbose && !q.stage[SAMPLE].command) {
		add(c, SAMPLE, "--logprobs");
		add(c, SAMPLE, "0");
	}
	if (q.chat) {
		add(c, SAMPLE, "--turns");
		add(c, DETOK, "--end");
		add(c, DETOK, q.interactive && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) ? "\n" PERSON_PROMPT : "\n");
	}
	for (int i = TOK; i <= DETOK; i++)
		q.stage[i].deaf = q.interactive;
	for (int i = TOK; i <= DETOK; i++)
		if (i != SAMPLE)
			add(c, i, q.model);
	for (int i = TOK; i <= DETOK; i++)
		q.stage[i].argv[0] = place->program[i];
}

static int stage_status(const struct cli *c, const struct stage *s)
{
	if (WIFSIGNALED(s->status))
		fprintf(stderr, "%s: %s: killed by signal %d\n", c->program, s->name, WTERMSIG(s->status));
	else
		fprintf(stderr, "%s: %s: exit status %d\n", c->program, s->name, WEXITSTATUS(s->status));
	return WIFEXITED(s->status) && WEXITSTATUS(s->status) == 2 ? 2 : 1;
}

/* A file that is no model is told once, here, and not by three stages. */
static void check_model(const struct cli *c)
{
	struct why w;
	struct gguf *g = gguf_open(q.model, 0, &w);

	if (!g)
		cli_die(c, "%s", w.text);
	gguf_close(g);
}

static int run(const struct cli *c)
{
	struct sigaction act = { .sa_handler = on_signal };
	struct result r = { 0 };
	struct why w;
	int failed, status, ours;

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	signal(SIGPIPE, SIG_IGN);
	status = q.chat ? talk(&q, &w) : loop(&q, &r, &w);
	ours = status || interrupted ? SIGTERM : 0;
	if (status)
		stages_kill(q.stage, STAGES, ours);
	failed = stages_wait(q.stage, STAGES, ours);
	if (q.prompted && write(STDOUT_FILENO, "\n", 1) < 0)
		failed = failed < 0 ? DETOK : failed;
	if (q.verbose && r.ids.n)
		report(&q, &r);
	result_free(&r);
	if (interrupted) {
		signal(interrupted, SIG_DFL);
		raise(interrupted);
	}
	if (failed >= 0)
		return stage_status(c, &q.stage[failed]);
	if (stage_was_killed(&q.stage[DETOK], SIGPIPE))
		return 0;
	if (stage_was_killed(&q.stage[FWD], SIGPIPE)) {         /* sample had enough */
		if (q.chat)
			cli_die(c, "sample ended before the conversation did");
		return 0;
	}
	if (status)
		cli_die(c, "%s", w.text);
	return 0;
}

int main(int argc, char **argv)
{
	struct cli c = { .program = "gen", .synopsis = "[options] [PROMPT] (default: the prompt from stdin)", .purpose = "text from a prompt: tok, fwd, sample and detok, looped",
		.opts = opts, .argc = argc, .argv = argv };
	struct place place;
	struct why w;
	int seeded = 0;

	for (int i = 0; i < STAGES; i++)
		q.stage[i] = (struct stage){ .name = names[i], .n = 1 };
	cli_start(&c);
	options(&c, &seeded);
	if (place_find(&place, argv[0], &w))
		cli_die(&c, "%s", w.text);
	q.model = q.model ? q.model : place.model;
	if (!q.model)
		cli_usage(&c, "no model: name one with -m or $LMPIPE_MODEL");
	commands(&c, &place);
	if (q.print) {
		print_pipeline(&q);
		return cli_end(&c);
	}
	check_model(&c);
	return run(&c);
}
