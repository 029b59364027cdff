/* A command is the options that gen adds, then those of the command line that its stage owns, which win, then
 * operands. */
#include "arguments.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/arena.h"
#include "lib/base/io.h"
#include "lib/base/system.h"
#include "lib/chat/chat_opts.h"
#include "lib/process/find.h"
#include "lib/sampler/opts.h"
#include "gen/conversation/console.h"
#include "gen/conversation/parser.h"
#include "hosts.h"

enum { TEXTS_MAX = 1 << 20 };   /* bytes of texts that become arguments */

const char *const arguments_no_thinking[] = { "enable_thinking=false", "thinking=false", NULL };

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

/* Adds an option, and a value unless that is NULL, if they apply. */
static void add_if(struct command *c, int applies, const char *option, const char *value)
{
	if (applies)
		add(c, option);
	if (applies && value)
		add(c, value);
}

/* Adds the word prefix + s[n]. It stays valid until the process ends. */
static void add_joined(struct command *c, const char *prefix, const char *s, size_t n)
{
	static struct arena words = { .limit = TEXTS_MAX };
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

/* Decides what follows from the request. */
static void conclude(struct request *q)
{
	int own_fwd = q->stage[FWD].shell, own_sample = q->stage[SAMPLE].shell;

	q->marks |= q->conversation || q->rendered;
	/* a grammar from standard input becomes a file, as that of a schema does; and one that --json records */
	q->copied = q->constraint || q->json ? q->grammar_name : NULL;
	q->shaded = q->color && system_coloured(STDOUT_FILENO);
	q->noise = q->gumbel && !q->greedy;
	q->draft_model = q->draft && strcmp(q->draft, "lookup");
	/* The n-th id is not evaluated, unless it must be kept in a named segment. A user's sampler is only limited by
	 * the loop. */
	q->bounded = own_sample || (!q->kv && !q->conversation && !own_fwd);
	q->logprobs = (q->verbose || q->json || q->best_of || q->shaded) && !own_sample && !q->record;
	/* the output of a command in place of detok is not shown by gen */
	q->edited = q->interactive && !q->stage[DETOK].shell && console_edits();
	q->shown = q->edited || (q->answer && q->conversation && !q->json);
	/* detok prints up to a stop string and exits; a loop that must know about it, or continue, also needs a
	 * filter */
	q->filtered = q->stop && !q->requests && (several(q) || q->json || q->verbose || q->grammar);
}

/* ---- the stages ---- */

/* The programs, and the options of the command line that each gets. */
static const struct kind {
	const char *name, *program;
	const char *options;    /* NAMES separated by spaces, or NAME=AS, where the program calls it AS; or NULL */
	const struct opt *all;  /* and all of this table; or NULL */
	int model;              /* the model is an operand */
} kinds[STAGES] = {
	[SCHEMA] = { "schema", "schema", "json-schema=-- json-schema-file=--file schema=--file", NULL, 0 },
	[CHAT] = { "chat", "chat", "verbose", chat_opts, 1 },
	[ENCODE] = { "tok", "tok", NULL, NULL, 1 },
	[RENDER] = { "chat", "chat", "verbose", chat_opts, 1 },
	[TOK] = { "tok", "tok", "append bos no-bos no-parse-special", NULL, 1 },
	[FEED] = { "feed", "feed",
		"n-predict jobs texts best-of=--texts draft draft-max temp threads backend", NULL, 0 },
	[FWD] = { "fwd", "fwd", "override", fwd_opts, 1 },
	[SAMPLE] = { "sample", "sample", "n-predict logprobs", sampler_opts, 0 },
	[STOPS] = { "detok --frames", "detok", "stop special", NULL, 1 },
	[BEST] = { "best", "best", "verbose length-penalty all", NULL, 0 },
	[PEEK] = { "peek", "peek", "stop", NULL, 0 },
	[DETOK] = { "detok", "detok", "stop special", NULL, 1 },
	[DECODE] = { "detok", "detok", NULL, NULL, 1 },
	[KV] = { "kv", "kv", NULL, NULL, 0 }
};

/* Where the template decides, the schema is of what follows the reasoning. */
static const struct kind answers = { "chat --grammar", "chat",
	"json-schema json-schema-file schema=--json-schema-file", chat_opts, 1 };

/* Whether the text is an answer of the model. */
static int is_chat(const struct request *q)
{
	return q->conversation || q->rendered;
}

static const struct kind *kind_of(const struct request *q, enum stage_number stage)
{
	return stage == SCHEMA && is_chat(q) ? &answers : &kinds[stage];
}

/* Whether a grammar makes calls of tools valid. */
static int calls(const struct request *q)
{
	return is_chat(q) && q->tools && !q->grammar && !q->stage[SAMPLE].shell;
}

static int wanted(const struct request *q, enum stage_number stage)
{
	switch (stage) {
	case SCHEMA: return q->schema || calls(q);
	case CHAT: case ENCODE: case DECODE: return q->conversation;
	case RENDER: return q->rendered;
	case TOK: return !q->conversation && !q->requests;
	case FEED: case FWD: case SAMPLE: return 1;
	case STOPS: return q->filtered;
	case BEST: return q->best_of;
	case PEEK: return q->shaded;
	case DETOK: return !q->shaded && !q->requests && !(q->conversation && q->json);
	case KV: return q->kv || q->requests;
	default: return 0;
	}
}

/* Adds the options of gen's own. */
static void add_own(struct command *c, enum stage_number stage)
{
	const struct request *q = c->q;
	int terminal = isatty(STDOUT_FILENO);

	switch (stage) {
	case SCHEMA: case CHAT: case RENDER:
		add_if(c, stage == SCHEMA && is_chat(q), "--grammar", NULL);
		add_if(c, stage == SCHEMA && (q->lenient || calls(q)), "--lenient", NULL);
		add_if(c, stage == RENDER && q->lines, "--lines", NULL);
		add_if(c, stage == RENDER && !q->lines, "--text", NULL);
		if (!is_chat(q))
			break;
		add_if(c, q->plain, "--template", "plain");
		for (const char *const *set = arguments_no_thinking; *set; set++)
			add_if(c, q->think < 0, "--set", *set);
		break;
	case ENCODE:
		add_if(c, 1, "--no-bos", "--offsets");
		break;
	case TOK:
		add_if(c, q->record != NULL, "--ids", NULL);
		add_if(c, q->escape, "--escape", NULL);
		add_if(c, q->lines != NULL, "--lines", NULL);
		add_if(c, q->rendered && q->lines, "--json", NULL);
		add_if(c, q->rendered, "--no-bos", NULL);
		/* the newline that echo adds */
		add_if(c, !q->prompt && !q->file && !q->lines && !q->rendered, "--chomp", NULL);
		break;
	case FEED:
		add_if(c, q->draft_model && q->noise, "--temp", "0.8");
		add_if(c, q->draft_model && q->noise, "--seed", seed(q));
		add_if(c, (q->lines || q->requests) && !q->jobs, "--jobs", ARGUMENTS_JOBS);
		break;
	case FWD:
		add_if(c, q->requests && !q->hosts, "--own-kv", NULL);
		break;
	case SAMPLE:
		add_if(c, 1, "--seed", seed(q));
		add_if(c, q->logprobs && !q->likely, "--logprobs", "0");
		add_if(c, q->listed && q->json, "--prompt-ids", NULL);
		add_if(c, q->pieces || q->requests || calls(q), "--model", q->model);
		/* it continues after an end, so fwd can finish what a named segment must hold */
		add_if(c, several(q) || q->kv, "--turns", NULL);
		break;
	case STOPS:
		/* all that print an answer must see the same text */
		add_if(c, q->marks, "--marks", NULL);
		add_if(c, 1, "--frames", NULL);
		add_if(c, q->listed && q->json, "--generated", NULL);
		add_if(c, several(q), "--turns", NULL);
		break;
	case BEST:
		add_if(c, 1, "--seed", seed(q));
		break;
	case PEEK:
		add_if(c, 1, "--color", NULL);
		add_if(c, 1, "--model", q->model);
		break;
	case DETOK:
		add_if(c, q->marks, "--marks", NULL);
		add_if(c, q->listed, "--lines", q->json ? "--json" : "--ordered");
		add_if(c, q->listed && q->json, "--generated", NULL);
		add_if(c, !q->listed && (several(q) || q->filtered), "--turns", NULL);
		add_if(c, !q->listed && !q->shown && !q->json && (q->conversation || q->all || q->answer || terminal),
			"--suffix", q->interactive && terminal && isatty(STDIN_FILENO) ? "\n" CONSOLE_PROMPT : "\n");
		break;
	case DECODE:
		add_if(c, 1, "--marks", "--pieces");
		break;
	case KV:
		add_if(c, 1, "ids", q->requests ? "--" : q->kv);        /* requests have names of their own */
		break;
	default:
		break;
	}
}

/* Whether this stage gets an option that it owns. */
static int is_passed(const struct request *q, enum stage_number stage, const char *option)
{
	/* each request has its own, which gen counts */
	if (q->requests && !strcmp(option, "n-predict"))
		return 0;
	if (stage == SAMPLE)
		return !q->copied || strcmp(option, "grammar-file");
	if (stage != FEED)
		return 1;
	if (!strcmp(option, "n-predict"))
		return q->bounded;
	if (!strcmp(option, "temp"))
		return q->draft_model && q->noise;
	return q->draft_model || (strcmp(option, "threads") && strcmp(option, "backend"));
}

/* Adds an option of the command line if the stage gets it. */
static void add_given(struct command *c, enum stage_number stage, const struct cli_given *given)
{
	const struct kind *kind = kind_of(c->q, stage);
	const struct opt *all = kind->all;
	const char *name = given->o->name, *word = kind->options;
	size_t n = strlen(name);

	while (word && (strcspn(word, " =") != n || memcmp(word, name, n)))
		if ((word = strchr(word, ' ')))
			word++;
	while (all && all->help && all != given->o)
		all++;
	if ((!word && !(all && all->help)) || !is_passed(c->q, stage, name))
		return;
	if (word && word[n] == '=')
		add_joined(c, "", word + n + 1, strcspn(word + n + 1, " "));
	else
		add_joined(c, "--", name, n);
	if (given->value)
		add(c, given->value);
}

/* The command of a program of ours. */
static void assemble(struct command *c, enum stage_number stage, const char *argv0)
{
	const struct request *q = c->q;
	const struct kind *kind = kind_of(q, stage);

	add(c, find_program(argv0, q->program, kind->program));
	add_own(c, stage);
	for (size_t i = 0; i < q->n_given; i++)
		add_given(c, stage, &q->given[i]);
	if (kind->model)
		add_operand(c, q->model);
	if (stage == TOK && q->lines && !q->rendered)
		add_operand(c, q->lines);
}

/* A stage that is not a program of ours. */
static int use(struct stage *s, const char *program, struct why *w)
{
	s->name = s->program = program;
	return stage_arg(s, program, w);
}

/* A prompt that cannot be an argument is in a file without a name. */
static int use_prompt_file(const struct request *q, struct stage *s, struct why *w)
{
	static char path[STAGE_PATH];
	int fd = stage_file(w);

	if (fd < 0 || io_write(fd, q->prompt, q->prompt_n, w) || stage_rewind(fd, w))
		return -1;
	return use(s, "cat", w) || stage_arg_path(s, NULL, fd, path, w);
}

/* A prompt that is not standard input comes from a stage. */
static int use_prompt(struct request *q, struct why *w)
{
	struct stage *s = &q->stage[PROMPT];

	/* a question with its document, and a record's prompt, may be longer than arguments are; a question may
	 * contain NUL */
	if (!q->file && (q->answer || q->record || strlen(q->prompt) < q->prompt_n))
		return use_prompt_file(q, s, w);
	if (q->file)
		return use(s, "cat", w) || stage_arg(s, "--", w) || stage_arg(s, q->file, w);
	return use(s, "printf", w) || stage_arg(s, "%s", w) || stage_arg(s, q->prompt, w);
}

/* A conversation does this itself, since its commands may change the options. */
static int name_thinking(struct request *q, struct why *w)
{
	static struct bytes open = { .limit = TEXTS_MAX }, close = { .limit = TEXTS_MAX };
	struct parser p = { .q = q };
	struct stage *sample = &q->stage[SAMPLE];
	int failed;

	if (!q->rendered || sample->shell || !stage_option(sample, "--think-budget"))
		return 0;
	failed = parser_name_thinking(&p, sample, &open, &close, w);
	parser_close(&p);
	return failed;
}

int arguments(struct request *q, const char *argv0, struct why *w)
{
	conclude(q);
	for (int i = 0; i < STAGES; i++) {
		struct command c = { q, &q->stage[i], 0, w };

		c.stage->name = kind_of(q, (enum stage_number)i)->name;
		c.stage->program = kind_of(q, (enum stage_number)i)->program;
		if (!c.stage->shell && wanted(q, (enum stage_number)i))
			assemble(&c, (enum stage_number)i, argv0);
		if (c.failed)
			return -1;
	}
	q->fwd = q->stage[FWD].argv[0];
	if (name_thinking(q, w))
		return -1;
	if (q->hosts && hosts_divide(q, w) < 0)
		return -1;
	if (q->copied && (use(&q->stage[SCHEMA], "cat", w)
	    || (!q->constraint && (stage_arg(&q->stage[SCHEMA], "--", w)
		|| stage_arg(&q->stage[SCHEMA], q->copied, w)))))
		return -1;
	if (!q->conversation && !q->requests && (q->prompt || q->file) && use_prompt(q, w))
		return -1;
	return use(&q->stage[TEE], "tee", w);
}
