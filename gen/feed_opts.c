/* The options of feed. */
#include "feed_opts.h"

#include <stdio.h>
#include <string.h>

#include "fwd/fwd_opts.h"
#include "best.h"

enum { REPEAT = 1, DRAFT, DRAFT_SIZE, TEMP };

const struct opt feed_opts[] = {
	{ 'n', "n-predict", "N", "end after N tokens (default: no limit)" },
	{ REPEAT, "repeat", "N", "generate N texts from the same prompt, one after the other (default: 1)" },
	{ DRAFT, "draft", "MODEL", "guess tokens with a small model, so that fwd evaluates several at once;\n"
		"lookup: guess from repetitions in the text" },
	{ DRAFT_SIZE, "draft-max", "N", "guess N tokens at once (default: 4)" },
	{ TEMP, "temp", "T", "the small model draws as sample --gumbel does; 0: takes the largest logit (default: 0)" },
	{ 's', "seed", "N", "with --temp: seed of the draws" },
	{ 't', "threads", "N", "threads of the small model" },
	{ OPT_BACKEND, "backend", "NAME", "backend of the small model (see fwd)" },
	{ 0 }
};

/* An option of the draft's fwd. */
static void add(struct feed_settings *set, const struct cli *c, const char *option, const char *value)
{
	struct why w;

	if (stage_arg(&set->model, option, &w) || stage_arg(&set->model, value, &w))
		cli_usage(c, "%s", w.text);
}

void feed_settings(struct feed_settings *set, struct cli *c)
{
	const char *model = NULL, *for_draft = NULL;
	const struct opt *o;
	struct why w;

	*set = (struct feed_settings){ .n = LOOP_NO_LIMIT, .repeat = 1, .draft.most = 4 };
	set->model = (struct stage){ .name = "draft", .program = "fwd", .n = 1 };
	while ((o = cli_next(c)))
		switch (o->letter) {
		case 'n': set->n = cli_integer(c, o, 0, INT32_MAX); break;
		case REPEAT: set->repeat = cli_integer(c, o, 1, BEST_MAX); break;
		case DRAFT: model = c->value; break;
		case DRAFT_SIZE: set->draft.most = (size_t)cli_integer(c, o, 1, DRAFT_MAX); break;
		case TEMP: cli_real(c, o, 0, 1e6); add(set, c, for_draft = "--temp", c->value); break;
		case 's': cli_integer(c, o, -1, INT64_MAX); add(set, c, for_draft = "--seed", c->value); break;
		case 't': add(set, c, for_draft = "--threads", c->value); break;
		case OPT_BACKEND: add(set, c, for_draft = "--backend", c->value); break;
		}
	if (c->argc != 1)
		cli_usage(c, "one operand: the FIFO through which the sampler's ids come back (try --help)");
	set->drafts = model != NULL;
	if (model && strcmp(model, "lookup")) {
		snprintf(set->most, sizeof set->most, "%zu", set->draft.most);
		add(set, c, "--chain", set->most);
		add(set, c, "-n", set->most);
		if (stage_arg(&set->model, model, &w))
			cli_usage(c, "%s", w.text);
		set->draft.model = &set->model;
	} else if (for_draft) {
		cli_usage(c, "%s: only with --draft MODEL", for_draft);
	}
	if (model && set->repeat > 1)
		cli_usage(c, "--draft and --repeat exclude each other");
}
