/* The options of score. */
#include "settings.h"

#include "lib/chat/chat_opts.h"
#include "lib/process/find.h"
#include "lib/stream/frame.h"

enum { CHUNK = 1, TABLE, LINES, WORST, JSON, AGAINST, CHOICES, CHAT, IDS, BACKEND };
enum { WORST_MAX = 100000, OWN = 2 };   /* OWN: words of fwd's command before those that are given */

const struct opt settings_opts[] = {
	{ 'm', "model", "MODEL", "show the pieces of its vocabulary, count bytes, and check that the stream matches" },
	{ CHUNK, "chunk", "N", "count only the second half of each chunk of N tokens, as tok --chunk N writes them" },
	{ CHOICES, "choices", "FILE",
		"which of several texts is the most likely, from lines of JSON with \"context\",\n"
		"\"choices\" and \"answer\", or records of HellaSwag, WinoGrande or ARC;\n"
		"with a stream: from its scores of the tokens that --ids writes" },
	{ CHAT, "chat", NULL, "with --choices: each context is a question to the model, which the choices answer" },
	{ IDS, "ids", NULL, "with --choices: write the tokens that fwd --score is to score" },
	{ 't', "threads", "N", "with --choices: threads of fwd" },
	{ 'c', "ctx-size", "N", "with --choices: tokens of fwd's context" },
	{ BACKEND, "backend", "NAME", "with --choices: backend of fwd" },
	{ LINES, "lines", NULL, "a line for each text, such as each line of tok --lines, instead of figures" },
	{ TABLE, "table", NULL, "print a line for each token, or for each item of --choices, instead of figures" },
	{ WORST, "worst", "N", "the N least likely tokens" },
	{ AGAINST, "against", "BASE",
		"compare with another stream of the same tokens;\n"
		"exit status as diff's: 0 the same bits, 1 different, 2 trouble" },
	{ JSON, "json", NULL, "print a JSON object; with --table and --lines, one on each line" },
	{ 0 }
};

const struct cli_rule settings_rules[] = {
	{ "choices", .requires = "model" },
	{ "choices", .excludes = "against worst chunk lines" },
	{ "ids threads ctx-size backend chat system tools set template template-name", .requires = "choices" },
	{ "template", .excludes = "template-name" },
	{ "ids", .excludes = "table threads ctx-size backend" },
	{ "against", .excludes = "table lines worst model" },
	{ "table", .excludes = "lines" },
	{ "table lines", .excludes = "worst" },
	{ 0 }
};

/* A word of fwd's command, and the next if there is one. */
static void add(struct settings *set, const struct cli *c, const char *word, const char *value)
{
	struct why w;

	cli_must(c, stage_arg(&set->fwd, word, &w) || (value && stage_arg(&set->fwd, value, &w)), &w);
}

static void check(const struct settings *set, const struct cli *c)
{
	if (c->argc > 1)
		cli_usage(c, "more than one stream (try --help)");
	if (c->argc && set->ids)
		cli_usage(c, "--ids takes no stream");
	if (c->argc && set->fwd.n > OWN)
		cli_usage(c, "%s: not with a stream, which has the scores", set->fwd.argv[OWN]);
}

static void take_chat(struct settings *set, const struct cli *c, const struct opt *o)
{
	struct why w;
	int taken = chat_take(&set->setup, o, c->value, &w);

	if (taken < 0)
		cli_usage(c, "%s", w.text);
	set->chat |= taken;
}

void settings_read(struct settings *set, struct cli *c)
{
	const struct opt *o;

	*set = (struct settings){ .fwd = { .name = "fwd", .program = "fwd", .quiet = 1 } };
	add(set, c, find_program(c->argv[0], "score", "fwd"), "--score");
	while ((o = cli_next(c)))
		switch (o->letter) {
		case 'm': set->model = c->value; break;
		case CHUNK: set->chunk = (uint32_t)cli_integer(c, o, 4, FRAME_IDS_MAX); break;
		case TABLE: set->table = 1; break;
		case LINES: set->lines = 1; break;
		case WORST: set->worst = (size_t)cli_integer(c, o, 1, WORST_MAX); break;
		case CHOICES: set->choices = c->value; break;
		case CHAT: set->chat = 1; break;
		case IDS: set->ids = 1; break;
		case AGAINST: set->against = c->value; c->trouble = 2; break;
		case JSON: set->as_json = 1; break;
		case 't': add(set, c, "--threads", c->value); break;
		case 'c': add(set, c, "--ctx-size", c->value); break;
		case BACKEND: add(set, c, "--backend", c->value); break;
		default: take_chat(set, c, o);
		}
	check(set, c);
}
