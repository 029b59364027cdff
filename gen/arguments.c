/* Decides which stages a request uses, and builds their commands: first the options that gen adds, then those that the
 * user gave, so that these win. */
#include "arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/arena.h"
#include "lib/process/find.h"
#include "console.h"
#include "hosts.h"

/* The stages: their names, their programs, and whether the model is an operand. A stage is used if all facts in `when`
 * hold, unless all those of a set in `unless` do. */
static const struct {
	const char *name, *program;
	int model;
	unsigned when, unless[2];
} kinds[STAGES] = {
	[SCHEMA] = { "schema", "schema", 0, CONSTRAINED, { 0 } },
	[CHAT] = { "chat", "chat", 1, CONVERSATION, { 0 } },
	[ENCODE] = { "tok", "tok", 1, CONVERSATION, { 0 } },
	[TOK] = { "tok", "tok", 1, 0, { CONVERSATION } },
	[FEED] = { "feed", "feed", 0, 0, { 0 } },
	[FWD] = { "fwd", "fwd", 1, 0, { 0 } },
	[SAMPLE] = { "sample", "sample", 0, 0, { 0 } },
	[STOPS] = { "detok --frames", "detok", 1, FILTERED, { 0 } },
	[BEST] = { "best", "best", 0, RANKED, { 0 } },
	[PEEK] = { "peek", "peek", 0, COLOURED, { 0 } },
	[DETOK] = { "detok", "detok", 1, 0, { CONVERSATION | JSON, COLOURED } },
	[ANSWER] = { "detok", "detok", 1, CONVERSATION, { 0 } },
	[PLAIN] = { "detok", "detok", 1, CONVERSATION, { 0 } },
	[KV] = { "kv", "kv", 0, KEPT, { 0 } },
};

struct assembly {
	struct request *q;
	const struct cli *c;
	const struct given *given;      /* [n] */
	size_t n;
};

static void add(struct assembly *t, enum stage_number stage, const char *word)
{
	struct why w;

	if (stage_arg(&t->q->stage[stage], word, &w))
		cli_die(t->c, "%s", w.text);
}

/* Whether the stage is one of gen's own (not a user's command) and these facts hold. */
static int applies(const struct assembly *t, enum stage_number stage, unsigned when)
{
	const struct stage *s = &t->q->stage[stage];

	return s->n && !s->shell && asked(t->q, when);
}

/* Appends an option, with its value unless that is NULL, to the command of a stage, if it applies. */
static void pass(struct assembly *t, enum stage_number stage, unsigned when, const char *option, const char *value)
{
	if (!applies(t, stage, when))
		return;
	add(t, stage, option);
	if (value)
		add(t, stage, value);
}

/* A word of a stage's command. It stays valid until the process ends. */
static const char *word(const struct cli *c, const char *prefix, const char *name)
{
	static struct arena words = { .limit = 1 << 20 };
	size_t room = strlen(prefix) + strlen(name) + 1;
	char *s = arena_text(&words, room);

	if (!s)
		cli_die(c, "out of memory");
	snprintf(s, room, "%s%s", prefix, name);
	return s;
}

/* A file name as an operand that is no option; "-" remains. */
static const char *operand(const struct cli *c, const char *name)
{
	return *name != '-' || !name[1] ? name : word(c, "./", name);
}

static void pass_given(struct assembly *t)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct given *g = &t->given[i];

		for (int k = 0; k < OPTION_STAGES; k++)
			if (applies(t, g->meaning->to[k], g->meaning->when[k]))
				pass(t, g->meaning->to[k], 0,
					g->meaning->as ? g->meaning->as : word(t->c, "--", g->o->name), g->value);
	}
}

/* Options that gen adds. The user's options come after them, and so win. */
static void pass_own(struct assembly *t)
{
	static char seed[24];
	int terminal = isatty(STDOUT_FILENO);
	const struct request *q = t->q;
	unsigned f = q->facts;

	snprintf(seed, sizeof seed, "%" PRId64, q->seed);
	pass(t, ENCODE, 0, "--no-bos", "--text");
	if (q->escape)
		pass(t, TOK, 0, "--escape", NULL);
	if (q->lenient)
		pass(t, SCHEMA, 0, "--lenient", NULL);
	pass(t, FEED, DRAFT_MODEL | NOISE, "--temp", "0.8");
	pass(t, FEED, DRAFT_MODEL | NOISE, "--seed", seed);
	pass(t, SAMPLE, 0, "--seed", seed);
	if (!q->likely)
		pass(t, SAMPLE, LOGPROBS, "--logprobs", "0");
	pass(t, SAMPLE, OF_TEXT, "--model", q->model);
	/* with --turns, sample continues after an end, so fwd can finish what a named segment must hold */
	if (f & (MANY | KEPT))
		pass(t, SAMPLE, 0, "--turns", NULL);
	/* all of these must see the same text */
	pass(t, DETOK, CONVERSATION, "--marks", NULL);
	pass(t, STOPS, CONVERSATION, "--marks", NULL);
	pass(t, ANSWER, 0, "--marks", NULL);
	pass(t, PLAIN, 0, "--marks", NULL);
	pass(t, STOPS, 0, "--frames", NULL);
	if (f & MANY)
		pass(t, STOPS, 0, "--turns", NULL);
	if (q->lines) {
		pass(t, TOK, 0, "--lines", NULL);
		if (!q->jobs)
			pass(t, FEED, 0, "--jobs", ARGUMENTS_JOBS);
	}
	pass(t, BEST, 0, "--seed", seed);
	pass(t, KV, 0, "ids", q->kv);
	pass(t, PEEK, 0, "--color", NULL);
	pass(t, PEEK, 0, "--model", q->model);
	if (f & LINES) {
		pass(t, DETOK, 0, "--lines", NULL);
		pass(t, DETOK, 0, f & JSON ? "--json" : "--ordered", NULL);
		return;
	}
	if (f & (MANY | FILTERED))
		pass(t, DETOK, 0, "--turns", NULL);
	if ((f & (CONVERSATION | ALL) || (terminal && !(f & JSON))) && !(f & EDITED))
		pass(t, DETOK, 0, "--suffix", f & INTERACTIVE && terminal && isatty(STDIN_FILENO)
			? "\n" CONSOLE_PROMPT : "\n");
}

static int is_used(const struct request *q, int stage)
{
	const unsigned *unless = kinds[stage].unless;

	return asked(q, kinds[stage].when) && !(unless[0] && asked(q, unless[0]))
		&& !(unless[1] && asked(q, unless[1]));
}

void arguments(struct request *q, const struct cli *c, const struct given *given, size_t n, const char *argv0)
{
	struct assembly t = { q, c, given, n };
	const char *model = operand(c, q->model);
	struct why w;

	for (int i = 0; i < STAGES; i++) {
		struct stage *s = &q->stage[i];

		s->name = kinds[i].name;
		s->program = kinds[i].program;
		if (s->program && !s->n && is_used(q, i))
			add(&t, (enum stage_number)i, find_program(argv0, c->program, s->program));
	}
	pass_own(&t);
	pass_given(&t);
	for (int i = 0; i < STAGES; i++)
		if (kinds[i].model)
			pass(&t, (enum stage_number)i, 0, model, NULL);
	q->fwd = q->stage[FWD].argv[0];
	if (q->hosts && hosts_divide(q, &w) < 0)
		cli_die(c, "%s", w.text);
	if (q->lines)
		pass(&t, TOK, 0, operand(c, q->lines), NULL);
	/* a grammar from standard input becomes a file, as that of a schema does */
	if (q->constraint && !asked(q, CONSTRAINED)) {
		q->stage[SCHEMA].name = q->stage[SCHEMA].program = "cat";
		add(&t, SCHEMA, "cat");
	}
	add(&t, TEE, "tee");
	if (asked(q, CONVERSATION) || (!q->prompt && !q->file))
		return;
	q->stage[PROMPT].name = q->stage[PROMPT].program = q->file ? "cat" : "printf";
	add(&t, PROMPT, q->stage[PROMPT].name);
	add(&t, PROMPT, q->file ? "--" : "%s");
	add(&t, PROMPT, q->file ? q->file : q->prompt);
}
