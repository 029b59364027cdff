/* The options of feed. gen reads them, too: it configures its loop from the command of the feed that it prints. */
#include "feed_opts.h"

#include <stdio.h>
#include <string.h>

#include "fwd/fwd_opts.h"

enum { DRAFT = 1, DRAFT_SIZE, TEMP, REPLAY, GUESSES_MOST = 8 };

const struct opt feed_opts[] = {
	{ 'n', "n-predict", "N", "end after N tokens (default: no limit)" },
	{ 'j', "jobs", "N", "feed the sequences of tok --lines, at most N at a time" },
	{ 'N', "texts", "N", "generate N texts from one prompt, which is evaluated once" },
	{ DRAFT, "draft", "MODEL", "guess tokens with a small model, so that fwd evaluates several at once;\n"
		"lookup: guess from repetitions in the text" },
	{ DRAFT_SIZE, "draft-max", "N", "guess at most N tokens at once, fewer if that is faster (default: 8)" },
	{ TEMP, "temp", "T", "the small model draws as sample --gumbel does; 0: takes the largest logit (default: 0)" },
	{ 's', "seed", "N", "with --temp: seed of the draws" },
	{ 't', "threads", "N", "threads of the small model" },
	{ OPT_BACKEND, "backend", "NAME", "backend of the small model (see fwd)" },
	{ REPLAY, "replay", "FILE", "compare with the tokens that were drawn before, in the stream FILE, all at once;\n"
		"exit status as from diff: 0 the same, 1 different, 2 trouble" },
	{ 0 }
};

const struct cli_rule feed_rules[] = {
	{ "jobs", .excludes = "texts" },
	{ "temp seed threads backend", .requires = "draft" },
	{ "replay", .excludes = "draft" },
	{ "draft=lookup", .excludes = "temp seed threads backend", .reason = "they are for a model" },
	{ 0 }
};

/* Appends words to the command of the draft's fwd. */
static void add(struct stage *model, const struct cli *c, const char *option, const char *value)
{
	struct why w;

	cli_must(c, stage_arg(model, option, &w) || (value && stage_arg(model, value, &w)), &w);
}

void feed_options(struct loop *l, struct draft *draft, struct replay *replay, struct stage *model, struct cli *c)
{
	const char *from = NULL;
	static char most[24];
	const struct opt *o;

	loop_init(l);
	*draft = (struct draft){ .guessing.most = GUESSES_MOST };
	*model = (struct stage){ .name = "draft", .program = "fwd" };
	add(model, c, "fwd", NULL);
	while ((o = cli_next(c)))
		switch (o->letter) {
		case 'n': l->n = cli_integer(c, o, LOOP_NO_LIMIT, INT32_MAX); break;
		case 'j': l->jobs = (size_t)cli_integer(c, o, 1, LOOP_JOBS_MAX); break;
		case 'N': l->texts = cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
		case DRAFT: from = c->value; break;
		case DRAFT_SIZE: draft->guessing.most = (size_t)cli_integer(c, o, 1, GUESSES_MAX); break;
		case TEMP: cli_real(c, o, 0, 1e6); add(model, c, "--temp", c->value); break;
		case 's': cli_integer(c, o, -1, INT64_MAX); add(model, c, "--seed", c->value); break;
		case 't': add(model, c, "--threads", c->value); break;
		case OPT_BACKEND: add(model, c, "--backend", c->value); break;
		case REPLAY: replay->name = c->value; c->trouble = 2; break;
		}
	if (c->argc != 1)
		cli_usage(c, "expected one operand, the FIFO (try --help)");
	if (l->texts)
		l->jobs = 1;
	l->replay = replay->name ? replay : NULL;
	l->draft = from ? draft : NULL;
	if (from && strcmp(from, "lookup")) {
		snprintf(most, sizeof most, "%zu", draft->guessing.most);
		add(model, c, "--chain", most);
		add(model, c, "-n", most);
		add(model, c, from, NULL);
		draft->model = model;
	}
}
