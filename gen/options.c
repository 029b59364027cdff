/* The tables of options, and the stages that each goes to. Most values are checked by the stages. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/bytes.h"
#include "lib/base/grow.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "lib/base/system.h"
#include "lib/chat/chat_opts.h"
#include "lib/gguf/models.h"
#include "lib/process/find.h"
#include "lib/sampler/opts.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/sampler.h"
#include "arguments.h"
#include "console.h"
#include "draft.h"
#include "hosts.h"
#include "loop.h"

enum { STAGE = 1, HISTORY, DRAFT_FROM, GUESS_MAX, BEST_OF, PENALTY, HOSTS, LINES_OF, ECHO, PROBABLE, APPEND, LENIENT,
	FLAG };

enum { PROMPT_MAX = 64 << 20 }; /* bytes of a file that is a turn */

const struct opt prompt_opts[] = {
	{ .help = "Prompt and output" },
	{ 'p', "prompt", "TEXT", "the prompt; the same as an operand (-: stdin)" },
	{ 'f', "file", "FILE", "the prompt, from a file" },
	{ 'e', "escape", NULL, "\\n, \\r, \\t, \\\", \\' and \\\\ in the prompt have their meaning in C" },
	{ FLAG, "bos", NULL, "begin with BOS" },
	{ FLAG, "no-bos", NULL, "begin without BOS" },
	{ FLAG, "no-parse-special", NULL, "treat control tokens in the prompt as plain text" },
	{ ECHO, "echo", NULL, "print the prompt before the text" },
	{ 'n', "n-predict", "N", "stop after N tokens (default: -1: at the end of generation, or of the context)" },
	{ FLAG, "stop", "TEXT", "stop before this text; \\n is a new line; repeatable" },
	{ FLAG, "special", NULL, "show control tokens" },
	{ FLAG, "color", NULL, "shade the text by how surprising each token was, on a terminal" },
	{ FLAG, "json", NULL, "print one line of JSON instead of the text: ids, text, log-probabilities, times" },
	{ PROBABLE, "logprobs", "N", "with --json: the N most likely tokens at each position, with log-probabilities" },
	{ 'v', "verbose", NULL, "print tokens, probabilities and times on stderr" },
	{ .help = "Many prompts or texts" },
	{ LINES_OF, "lines", "FILE", "answer the prompt on each line of FILE (-: stdin), each on one line" },
	{ 'j', "jobs", "N", "with --lines: at most N prompts at a time (default: " ARGUMENTS_JOBS ")" },
	{ 'N', "texts", "N", "generate N texts, with seeds from -s on, and print each on a line" },
	{ BEST_OF, "best-of", "N", "generate N texts, with seeds from -s on, and print the most likely" },
	{ FLAG, "all", NULL, "with --best-of: print all of them, the best first" },
	{ PENALTY, "length-penalty", "A", "divide log-probabilities by the length to the power of A (default: 1)" },
	{ .help = "Conversation" },     /* chat_opts continue it */
	{ FLAG, "chat", NULL, "a conversation: each line of stdin is a turn, its answer a line or more of stdout" },
	{ 'i', "interactive", NULL, "the same with a prompt; ^C ends an answer, ^D or ^C twice the conversation" },
	{ HISTORY, "history", "FILE", "continue the conversation in FILE, and append to it" },
	{ 0 }
};

const struct opt model_opts[] = {
	{ .help = "Model and state" },
	{ 'm', "model", "FILE", "the model (default: $LMPIPE_MODEL, or else the shipped model)" },
	{ APPEND, "append", NULL, "with --kv: the prompt follows the text that is kept (tok --append)" },
	{ FLAG, "override", "KEY=VALUE", "override a key of the model file (fwd --set); repeatable" },
	{ 0 }
};

const struct opt pipeline_opts[] = {
	{ .help = "Pipeline" },
	{ FLAG, "print-pipeline", NULL, "print the shell commands that do the same, and exit" },
	{ STAGE, "stage", "NAME=COMMAND", "run the shell command COMMAND instead of tok, fwd, sample or detok" },
	{ HOSTS, "hosts", "LIST", "run fwd's layers on several hosts by ssh, as a:0-13,b:14-27; no name: this host" },
	{ DRAFT_FROM, "draft", "MODEL", "guess tokens with a small model, so that fwd evaluates several at once;\n"
		"lookup: guess from repetitions in the text" },
	{ GUESS_MAX, "draft-max", "N", "guess at most N tokens at once, fewer if that is faster (default: 8)" },
	{ .help = "Sampling" },         /* sampler_opts continue it */
	{ 's', "seed", "N", "seed of the draws (default: a random one, shown by -v)" },
	{ 0 }
};

const struct opt schema_opts[] = {
	{ FLAG, "json-schema", "TEXT", "draw only JSON that matches this schema" },
	{ FLAG, "json-schema-file", "FILE", "the same from a file" },
	{ LENIENT, "lenient", NULL, "leave out of the schema what cannot be enforced, with a warning for each" },
	{ 0 }
};

static const struct meaning meanings[] = {
	{ "n-predict", .to = { SAMPLE, FEED }, .when = { 0, BOUNDED } },
	{ "verbose", VERBOSE, .to = { BEST, CHAT } },
	{ "color", .states = COLOURED },
	{ "json", .states = JSON },
	{ "logprobs", .to = { SAMPLE } },
	{ "stop", STOPPED, .to = { DETOK, PEEK, STOPS, ANSWER } },
	{ "json-schema", CONSTRAINED | OF_TEXT | GRAMMAR, .to = { SCHEMA }, .as = "--" },
	{ "json-schema-file", CONSTRAINED | OF_TEXT | GRAMMAR, .to = { SCHEMA }, .as = "--file" },
	{ "draft", DRAFTS, .to = { FEED } },
	{ "draft-max", .to = { FEED } },
	{ "best-of", RANKED, .to = { FEED }, .as = "--texts" },
	{ "lines", .states = LINES },
	{ "jobs", .to = { FEED } },
	{ "texts", LINES, .to = { FEED } },
	{ "length-penalty", .to = { BEST } },
	{ "all", ALL, .to = { BEST } },
	{ "chat", .states = CONVERSATION },
	{ "interactive", .states = CONVERSATION | INTERACTIVE },
	{ "history", .states = OF_CHAT },
	{ "print-pipeline", .states = PRINT },
	{ "append", OF_TOK, .to = { TOK } },
	{ "override", .to = { FWD }, .as = "--set" },
	{ "special", .to = { DETOK, STOPS } },
	{ "bos", OF_TOK, .to = { TOK } },
	{ "no-bos", OF_TOK, .to = { TOK } },
	{ "no-parse-special", OF_TOK, .to = { TOK } },
	{ "escape", .states = OF_TOK },
	{ "grammar", GRAMMAR, .to = { SAMPLE } },
	{ "grammar-file", GRAMMAR, .to = { SAMPLE } },
	{ "greedy", GREEDY, .to = { SAMPLE } },
	{ "gumbel", GUMBEL, .to = { SAMPLE } },
	{ "temp", .to = { SAMPLE, FEED }, .when = { 0, DRAFT_MODEL | NOISE } },
	{ "threads", .to = { FWD, FEED }, .when = { 0, DRAFT_MODEL } },
	{ "backend", .to = { FWD, FEED }, .when = { 0, DRAFT_MODEL } },
	{ "kv", KEPT, .to = { FWD } },
};

/* Options of a single stage that need no row above. */
static const struct {
	const struct opt *opts;
	struct meaning meaning;
} shared[] = {
	{ fwd_opts, { .to = { FWD } } },
	{ chat_opts, { .states = OF_CHAT, .to = { CHAT } } },
	{ sampler_opts, { .to = { SAMPLE } } },
};

/* Usage errors: all facts of the first set hold, and one of the second (unless it is 0), and none of the third. */
static const struct {
	unsigned these, with, unless;
	const char *message;
} conflicts[] = {
	{ OF_CHAT, 0, CONVERSATION,
		"--system, --tools, --set, --template, --template-name and --history are for --chat and -i, "
		"or with a prompt" },
	{ CONVERSATION, OF_TOK, 0, "--bos, --no-bos, --no-parse-special, --escape and --stage tok: "
		"not for a conversation: the chat template decides" },
	{ CONVERSATION, PRINT, 0, "--print-pipeline: a conversation is more than a pipeline; "
		"its first turn is chat | tok --no-bos | ..." },
	{ INTERACTIVE, JSON, 0, "--json: with --chat, not with -i" },
	{ GRAMMAR, OWN_SAMPLE, 0, "--grammar and --json-schema: not with --stage sample, which draws" },
	{ DRAFTS, RANKED, 0, "--draft and --best-of exclude each other" },
	{ ALL, 0, RANKED, "--all requires --best-of" },
	{ ALL, JSON, 0, "--all and --json exclude each other: the line describes the best text" },
	{ DRAFTS, CONVERSATION | OWN_FWD, 0, "--draft: not with --chat, -i or --stage fwd" },
	{ RANKED, CONVERSATION | OWN_FWD, 0, "--best-of: not with --chat, -i or --stage fwd" },
	{ RANKED, OWN_SAMPLE, 0, "--best-of: not with --stage sample, whose log-probabilities it needs" },
	{ RANKED, KEPT, 0, "--best-of and --kv exclude each other" },
	{ LINES, RANKED | DRAFTS | KEPT | VERBOSE | CONVERSATION, 0,
		"--lines and -N/--texts: not with --best-of, --draft, --kv, -v, --chat or -i" },
	{ COLOURED, MANY | JSON | OWN_SAMPLE | OWN_DETOK, 0,
		"--color: not with --chat, -i, --lines, -N/--texts, --best-of, --json, "
		"--stage sample or detok" },
	{ JSON, OWN_DETOK, 0, "--json: not with --stage detok or --print-pipeline" },
	{ JSON, PRINT, LINES, "--json: not with --stage detok or --print-pipeline" },
};

/* State while the command line is read. */
struct reader {
	struct cli *c;
	struct request *q;
	struct given *given;            /* [n] */
	size_t n, room;
};

static const struct meaning *meaning_of(const struct opt *o)
{
	for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
		if (!strcmp(meanings[i].option, o->name))
			return &meanings[i];
	for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
		for (const struct opt *row = shared[i].opts; row->help; row++)
			if (row == o)
				return &shared[i].meaning;
	return NULL;
}

/* ---- reading ---- */

/* --stage NAME=COMMAND */
static void replace(struct reader *r)
{
	static const struct { const char *name; enum stage_number stage; unsigned fact; } own[] = {
		{ "tok", TOK, OF_TOK }, { "fwd", FWD, OWN_FWD }, { "sample", SAMPLE, OWN_SAMPLE },
		{ "detok", DETOK, OWN_DETOK }
	};
	const char *value = r->c->value, *command = strchr(value, '=');

	for (size_t i = 0; command && i < sizeof own / sizeof *own; i++) {
		struct stage *s = &r->q->stage[own[i].stage];
		size_t n = strlen(own[i].name);
		struct why w;

		if (n != (size_t)(command - value) || strncmp(value, own[i].name, n))
			continue;
		if (s->shell)
			cli_usage(r->c, "--stage %s: only once", own[i].name);
		s->shell = 1;
		if (stage_arg(s, "sh", &w) || stage_arg(s, "-c", &w) || stage_arg(s, command + 1, &w))
			cli_die(r->c, "%s", w.text);
		r->q->facts |= own[i].fact;
		return;
	}
	cli_usage(r->c, "--stage: \"%s\" is not STAGE=COMMAND, where STAGE is tok, fwd, sample or detok", value);
}

static void take(struct reader *r, const struct opt *o)
{
	const struct meaning *m = meaning_of(o);
	struct request *q = r->q;
	struct cli *c = r->c;

	switch (o->letter) {
	case 'm': q->model = c->value; break;
	case 'p': q->prompt = c->value; break;
	case 'f': q->file = c->value; break;
	case APPEND: q->append = 1; break;
	case 'e': q->escape = 1; break;
	case ECHO: q->echo = 1; break;
	case LENIENT: q->lenient = 1; break;
	case PROBABLE: q->likely = 1; cli_integer(c, o, 0, SAMPLER_BEST_MAX); break;
	case 's': q->seed = cli_integer(c, o, -1, INT64_MAX); break;
	case STAGE: replace(r); break;
	case HOSTS: q->hosts = c->value; break;
	case GUESS_MAX: cli_integer(c, o, 1, GUESSES_MAX), q->guesses = 1; break;
	case BEST_OF: q->texts = (int)cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
	case 'N': q->texts = (int)cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
	case 'j': q->jobs = (int)cli_integer(c, o, 1, LOOP_JOBS_MAX); break;
	case LINES_OF: q->lines = c->value; break;
	case PENALTY: cli_real(c, o, 0, 10), q->penalty = 1; break;
	case HISTORY: q->history = c->value; break;
	case DRAFT_FROM: q->draft = c->value; break;
	case OPT_KV: q->kv = c->value; break;
	}
	if (!m)
		return;
	if (m->states & q->facts & GRAMMAR)
		cli_usage(c, "--%s: one grammar or schema at a time", o->name);
	q->facts |= m->states | (sampler_opt_of_text(o) ? OF_TEXT : 0);
	if (m->states & GRAMMAR && strstr(o->name, "-file") && slurp_is_stdin(c->value)) {
		q->constraint = o->name;
		/* not for sample, whose standard input holds logits */
		if (o->letter == OPT_GRAMMAR)
			return;
	}
	if (r->n == r->room && grow(&r->given, &r->room, sizeof *r->given, 64))
		cli_die(c, "out of memory");
	r->given[r->n++] = (struct given){ o, m, c->value };
}

/* Derives the other facts. */
static void conclude(struct request *q)
{
	unsigned f = q->facts;

	if (f & COLOURED && !system_coloured(STDOUT_FILENO))
		f &= ~(unsigned)COLOURED;
	if ((f & (GREEDY | GUMBEL)) == GUMBEL)
		f |= NOISE;
	if (f & DRAFTS && strcmp(q->draft, "lookup"))
		f |= DRAFT_MODEL;
	/* The n-th id is not evaluated, unless it must be kept in a named segment. A user's sampler is only limited by
	 * the loop. */
	if (f & OWN_SAMPLE || !(f & (KEPT | CONVERSATION | OWN_FWD)))
		f |= BOUNDED;
	if (f & (VERBOSE | JSON | RANKED | COLOURED) && !(f & (OWN_SAMPLE | LINES)))
		f |= LOGPROBS;
	/* the output of a command in place of detok is not shown by gen */
	if (f & INTERACTIVE && !(f & OWN_DETOK) && console_edits())
		f |= EDITED;
	/* detok prints up to a stop string and exits; a loop that must know about it, or continue, also needs a
	 * filter */
	if (f & STOPPED && f & (MANY | JSON | VERBOSE | GRAMMAR))
		f |= FILTERED;
	q->facts = f;
}

static void check(const struct request *q, const struct cli *c)
{
	struct why w;

	for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++)
		if (asked(q, conflicts[i].these) && (!conflicts[i].with || q->facts & conflicts[i].with)
		    && !(q->facts & conflicts[i].unless))
			cli_usage(c, "%s", conflicts[i].message);
	if (q->hosts && asked(q, OWN_FWD))
		cli_usage(c, "--hosts and --stage fwd exclude each other");
	if (q->hosts && hosts_check(q->hosts, asked(q, KEPT), &w) < 0)
		cli_usage(c, "--hosts: %s", w.text);
	if (q->texts > 1 && q->seed > INT64_MAX - q->texts)
		cli_usage(c, "--seed: there are no %d seeds from %" PRId64 " on", q->texts, q->seed);
	if (q->guesses && !q->draft)
		cli_usage(c, "--draft-max requires --draft");
	if (q->lenient && !asked(q, CONSTRAINED))
		cli_usage(c, "--lenient requires --json-schema or --json-schema-file");
	if (q->penalty && !asked(q, RANKED))
		cli_usage(c, "--length-penalty requires --best-of");
	if (q->append && !asked(q, KEPT))
		cli_usage(c, "--append requires --kv");
	if (q->jobs && !q->lines)
		cli_usage(c, "-j/--jobs requires --lines");
	if (q->lines && q->texts)
		cli_usage(c, "--lines: not with -N/--texts or --best-of");
	if (q->lines && (q->prompt || q->file))
		cli_usage(c, "--lines: no prompts besides those in %s", q->lines);
	if (q->constraint && asked(q, CONVERSATION) && !q->once)
		cli_usage(c, "--%s: standard input holds the turns", q->constraint);
	if (q->constraint && (q->lines ? slurp_is_stdin(q->lines) : !q->prompt && !q->file))
		cli_usage(c, "--%s: standard input holds the prompt", q->constraint);
}

/* A file that cannot be read is reported here, because cat, which reads it, would report it in its own words. */
static void check_file(const char *path, const struct cli *c)
{
	struct stat st;

	if (stat(path, &st) || access(path, R_OK))
		cli_die(c, "%s: %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode))
		cli_die(c, "%s: %s", path, strerror(EISDIR));
}

/* Replaces the escapes in a prompt from the command line. */
static void undo_escapes(struct request *q, const struct cli *c)
{
	char *text = malloc(q->prompt_n + 1);

	if (!text)
		cli_die(c, "out of memory");
	q->prompt_n = quote_undo(q->prompt, q->prompt_n, text);
	text[q->prompt_n] = 0;
	q->prompt = text;
	q->escape = 0;
}

/* Where the prompt comes from: one of an operand, -p and -f; - is standard input. With options of a conversation, the
 * prompt is its only turn. */
static void find_prompt(struct request *q, const struct cli *c)
{
	static struct bytes text = { .limit = PROMPT_MAX };
	struct why w;

	if (c->argc > 1)
		cli_usage(c, "one prompt at most, but also \"%s\": quote it (try --help)", c->argv[1]);
	if ((c->argc > 0) + (q->prompt != NULL) + (q->file != NULL) > 1)
		cli_usage(c, "one prompt at most: an operand, -p/--prompt or -f/--file");
	if (c->argc)
		q->prompt = c->argv[0];
	if (q->prompt && !strcmp(q->prompt, "-"))
		q->prompt = NULL;
	q->prompt_n = q->prompt ? strlen(q->prompt) : 0;
	if (q->file && slurp_is_stdin(q->file))
		q->file = NULL;
	if (asked(q, OF_CHAT) && !asked(q, CONVERSATION) && (q->prompt || q->file)) {
		q->facts |= CONVERSATION;
		q->once = 1;
	}
	if (q->likely && (!asked(q, JSON) || q->facts & (OWN_SAMPLE | LINES)))
		cli_usage(c, "--logprobs requires --json, and no --lines, -N/--texts or --stage sample");
	if (q->echo && (q->facts & (CONVERSATION | JSON | LINES) || (!q->prompt && !q->file)))
		cli_usage(c, "--echo: for a prompt on the command line or in a file, and not with --json, --lines, "
			"-N/--texts or conversations");
	if (q->echo && q->escape && q->file)
		cli_usage(c, "--echo: not with -e/--escape and a file");
	if (q->escape && q->prompt)
		undo_escapes(q, c);
	if (q->escape && q->stage[TOK].shell)
		cli_usage(c, "-e/--escape: with --stage tok only for a prompt on the command line");
	if (q->file)
		check_file(q->file, c);
	if (!q->file || !asked(q, CONVERSATION))
		return;
	if (slurp_text(q->file, &text, &w) || (bytes_put(&text, "", 1) && why(&w, "%s: too long", q->file)))
		cli_die(c, "%s", w.text);
	q->prompt = text.p;
	q->prompt_n = text.n - 1;
}

void options(struct request *q, struct cli *c)
{
	struct reader r = { .c = c, .q = q };
	const char *argv0 = c->argv[0];
	const struct opt *o;
	struct why w;

	q->seed = -1;
	while ((o = cli_next(c)))
		take(&r, o);
	if (q->seed < 0)
		q->seed = (int64_t)(rng_seed() >> 33);
	find_prompt(q, c);
	check(q, c);
	/* tok opens the file, but a command in its place cannot know it */
	if (q->lines && q->stage[TOK].shell && strcmp(q->lines, "-"))
		check_file(q->file = q->lines, c);
	q->texts += !q->texts;
	if (!q->model && !(q->model = find_model(argv0)))
		cli_usage(c, "no model: name one with -m or $LMPIPE_MODEL");
	if (!(q->model = models_path(q->model, &w)))
		cli_die(c, "%s", w.text);
	conclude(q);
	arguments(q, c, r.given, r.n, argv0);
	free(r.given);
}
