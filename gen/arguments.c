/* A stage is a row: when it is used, the options that gen adds, and those of the command line that it gets. These come
 * last, and so win. */
#include "arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/arena.h"
#include "lib/chat/chat_opts.h"
#include "lib/process/find.h"
#include "lib/sampler/opts.h"
#include "console.h"
#include "hosts.h"

/* The command of a stage while it is made. */
struct command {
	struct request *q;
	struct stage *stage;
	int failed;             /* for the reason in *w */
	struct why *w;
};

static void add(struct command *c, const char *word)
{
	c->failed = c->failed || stage_arg(c->stage, word, c->w);
}

static void add_value(struct command *c, const char *option, const char *value)
{
	add(c, option);
	add(c, value);
}

/* Adds the word prefix + s[n]. It stays valid until the process ends. */
static void add_joined(struct command *c, const char *prefix, const char *s, size_t n)
{
	static struct arena words = { .limit = 1 << 20 };
	size_t room = strlen(prefix) + n + 1;
	char *word = arena_text(&words, room);

	if (!word) {
		c->failed = why(c->w, "out of memory");
		return;
	}
	snprintf(word, room, "%s%.*s", prefix, (int)n, s);
	add(c, word);
}

/* Adds a file name as an operand that is no option; "-" remains. */
static void add_operand(struct command *c, const char *name)
{
	if (*name == '-' && name[1])
		add_joined(c, "./", name, strlen(name));
	else
		add(c, name);
}

static const char *seed(const struct request *q)
{
	static char s[24];

	snprintf(s, sizeof s, "%" PRId64, q->seed);
	return s;
}

/* ---- when a stage is used ---- */

static int always(const struct request *q)
{
	return 1;
}

static int has_schema(const struct request *q)
{
	return q->schema;
}

static int in_conversation(const struct request *q)
{
	return q->conversation;
}

static int of_one_prompt(const struct request *q)
{
	return !q->conversation;
}

static int is_filtered(const struct request *q)
{
	return q->filtered;
}

static int is_ranked(const struct request *q)
{
	return q->best_of;
}

static int is_coloured(const struct request *q)
{
	return q->color;
}

static int has_text(const struct request *q)
{
	return !q->color && !(q->conversation && q->json);
}

static int is_kept(const struct request *q)
{
	return q->kv != NULL;
}

/* When an option is passed on. */

static int is_bounded(const struct request *q)
{
	return q->bounded;
}

static int has_draft_model(const struct request *q)
{
	return q->draft_model;
}

static int draft_is_noisy(const struct request *q)
{
	return q->draft_model && q->noise;
}

/* Not for sample if it is standard input, which there holds logits. */
static int grammar_is_named(const struct request *q)
{
	return !q->constraint;
}

/* ---- the options that gen adds ---- */

static void start_schema(struct command *c)
{
	if (c->q->lenient)
		add(c, "--lenient");
}

static void start_encode(struct command *c)
{
	add_value(c, "--no-bos", "--offsets");
}

static void start_tok(struct command *c)
{
	if (c->q->escape)
		add(c, "--escape");
	if (c->q->lines)
		add(c, "--lines");
}

static void start_feed(struct command *c)
{
	if (draft_is_noisy(c->q)) {
		add_value(c, "--temp", "0.8");
		add_value(c, "--seed", seed(c->q));
	}
	if (c->q->lines && !c->q->jobs)
		add_value(c, "--jobs", ARGUMENTS_JOBS);
}

static void start_sample(struct command *c)
{
	const struct request *q = c->q;

	add_value(c, "--seed", seed(q));
	if (q->logprobs && !q->likely)
		add_value(c, "--logprobs", "0");
	if (q->pieces)
		add_value(c, "--model", q->model);
	/* with --turns, sample continues after an end, so fwd can finish what a named segment must hold */
	if (several(q) || q->kv)
		add(c, "--turns");
}

/* In a conversation, all that print must see the same text. */
static void start_stops(struct command *c)
{
	if (c->q->conversation)
		add(c, "--marks");
	add(c, "--frames");
	if (several(c->q))
		add(c, "--turns");
}

static void start_best(struct command *c)
{
	add_value(c, "--seed", seed(c->q));
}

static void start_peek(struct command *c)
{
	add(c, "--color");
	add_value(c, "--model", c->q->model);
}

static void start_detok(struct command *c)
{
	const struct request *q = c->q;
	int terminal = isatty(STDOUT_FILENO);

	if (q->conversation)
		add(c, "--marks");
	if (q->listed) {
		add_value(c, "--lines", q->json ? "--json" : "--ordered");
		return;
	}
	if (several(q) || q->filtered)
		add(c, "--turns");
	if ((q->conversation || q->all || (terminal && !q->json)) && !q->edited)
		add_value(c, "--suffix", q->interactive && terminal && isatty(STDIN_FILENO)
			? "\n" CONSOLE_PROMPT : "\n");
}

static void start_decode(struct command *c)
{
	add_value(c, "--marks", "--pieces");
}

static void start_kv(struct command *c)
{
	add_value(c, "ids", c->q->kv);
}

/* ---- the stages ---- */

enum { GROUPS_MAX = 4 };

static const struct kind {
	const char *name, *program;
	int (*wanted)(const struct request *q);
	void (*start)(struct command *c);       /* adds options of gen's own; or NULL */
	struct group {
		const char *options;            /* NAMES of options, or NAME=AS, where the stage calls it AS */
		int (*when)(const struct request *q);
	} gets[GROUPS_MAX];     /* options of the command line, */
	const struct opt *all;  /* and all others of a table; or NULL */
	int model;              /* the model is an operand */
} kinds[STAGES] = {
	[SCHEMA] = { "schema", "schema", has_schema, start_schema,
		.gets = { { "json-schema=-- json-schema-file=--file", always } } },
	[CHAT] = { "chat", "chat", in_conversation, .gets = { { "verbose", always } }, .all = chat_opts, .model = 1 },
	[ENCODE] = { "tok", "tok", in_conversation, start_encode, .model = 1 },
	[TOK] = { "tok", "tok", of_one_prompt, start_tok,
		.gets = { { "append bos no-bos no-parse-special", always } }, .model = 1 },
	[FEED] = { "feed", "feed", always, start_feed,
		.gets = { { "jobs texts best-of=--texts draft draft-max", always }, { "n-predict", is_bounded },
			{ "temp", draft_is_noisy }, { "threads backend", has_draft_model } } },
	[FWD] = { "fwd", "fwd", always, .gets = { { "override=--set", always } }, .all = fwd_opts, .model = 1 },
	[SAMPLE] = { "sample", "sample", always, start_sample,
		.gets = { { "n-predict logprobs", always }, { "grammar-file", grammar_is_named } },
		.all = sampler_opts },
	[STOPS] = { "detok --frames", "detok", is_filtered, start_stops,
		.gets = { { "stop special", always } }, .model = 1 },
	[BEST] = { "best", "best", is_ranked, start_best, .gets = { { "verbose length-penalty all", always } } },
	[PEEK] = { "peek", "peek", is_coloured, start_peek, .gets = { { "stop", always } } },
	[DETOK] = { "detok", "detok", has_text, start_detok, .gets = { { "stop special", always } }, .model = 1 },
	[DECODE] = { "detok", "detok", in_conversation, start_decode, .model = 1 },
	[KV] = { "kv", "kv", is_kept, .start = start_kv }
};

/* Adds an option that was given, if these are its stage's. Returns whether they are. */
static int add_of_group(struct command *c, const struct group *group, const struct cli_given *given)
{
	size_t n, name = strlen(given->o->name);

	for (const char *at = group->options; at && *at; at += n + (at[n] == ' ')) {
		n = strcspn(at, " ");
		if (strcspn(at, " =") != name || memcmp(at, given->o->name, name))
			continue;
		if (!group->when(c->q))
			return 1;
		if (at[name] == '=')
			add_joined(c, "", at + name + 1, n - name - 1);
		else
			add_joined(c, "--", at, n);
		if (given->value)
			add(c, given->value);
		return 1;
	}
	return 0;
}

/* Adds an option that was given, if the stage gets it. */
static void add_given(struct command *c, const struct kind *kind, const struct cli_given *given)
{
	for (int i = 0; i < GROUPS_MAX; i++)
		if (add_of_group(c, &kind->gets[i], given))
			return;
	for (const struct opt *o = kind->all; o && o->help; o++)
		if (o == given->o) {
			add_joined(c, "--", o->name, strlen(o->name));
			if (given->value)
				add(c, given->value);
		}
}

/* The command of a stage of our own, except for its first word. */
static void assemble(struct command *c, const struct kind *kind)
{
	if (kind->start)
		kind->start(c);
	for (size_t i = 0; i < c->q->n_given; i++)
		add_given(c, kind, &c->q->given[i]);
	if (kind->model)
		add_operand(c, c->q->model);
}

/* A stage that is not a program of ours. */
static int use(struct stage *s, const char *program, struct why *w)
{
	s->name = s->program = program;
	return stage_arg(s, program, w);
}

/* A prompt that is not standard input comes from a stage. */
static int use_prompt(struct request *q, struct why *w)
{
	struct stage *s = &q->stage[PROMPT];

	if (q->file)
		return use(s, "cat", w) || stage_arg(s, "--", w) || stage_arg(s, q->file, w);
	return use(s, "printf", w) || stage_arg(s, "%s", w) || stage_arg(s, q->prompt, w);
}

int arguments(struct request *q, const char *argv0, struct why *w)
{
	for (int i = 0; i < STAGES; i++) {
		const struct kind *kind = &kinds[i];
		struct command c = { q, &q->stage[i], 0, w };

		c.stage->name = kind->name;
		c.stage->program = kind->program;
		if (!kind->program || c.stage->shell || !kind->wanted(q))
			continue;
		add(&c, find_program(argv0, "gen", kind->program));
		assemble(&c, kind);
		if (i == TOK && q->lines)
			add_operand(&c, q->lines);
		if (c.failed)
			return -1;
	}
	q->fwd = q->stage[FWD].argv[0];
	if (q->hosts && hosts_divide(q, w) < 0)
		return -1;
	/* a grammar from standard input becomes a file, as that of a schema does */
	if (q->constraint && !q->schema && use(&q->stage[SCHEMA], "cat", w))
		return -1;
	if (!q->conversation && (q->prompt || q->file) && use_prompt(q, w))
		return -1;
	return use(&q->stage[TEE], "tee", w);
}
