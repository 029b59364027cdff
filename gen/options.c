/* What each option means for the request. Most values are checked by the stages. */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fwd/fwd_opts.h"
#include "lib/base/bytes.h"
#include "lib/base/quote.h"
#include "lib/base/slurp.h"
#include "lib/base/space.h"
#include "lib/base/utf8.h"
#include "lib/chat/chat_opts.h"
#include "lib/gguf/gguf.h"
#include "lib/gguf/models.h"
#include "lib/process/find.h"
#include "lib/sampler/opts.h"
#include "lib/sampler/rng.h"
#include "lib/sampler/sampler.h"
#include "gen/loop/draft.h"
#include "gen/loop/loop.h"
#include "arguments.h"
#include "hosts.h"
#include "record.h"
#include "tables.h"

#define SHIPPED "tales-q8_0.gguf"
#define SHIPPED_CHAT "clerk-q8_0.gguf"

enum { PATH_MOST = 4096 };
enum { PROMPT_MAX = 64 << 20 }; /* bytes of a file that is a turn */

/* ---- reading ---- */

/* --stage NAME=COMMAND */
static void replace(struct request *q, const struct cli *c)
{
	static const struct { const char *name; enum stage_number stage; } own[] = {
		{ "tok", TOK }, { "fwd", FWD }, { "sample", SAMPLE }, { "detok", DETOK }
	};
	const char *command = strchr(c->value, '=');

	for (size_t i = 0; command && i < sizeof own / sizeof *own; i++) {
		struct stage *s = &q->stage[own[i].stage];
		size_t n = strlen(own[i].name);
		struct why w;

		if (n != (size_t)(command - c->value) || strncmp(c->value, own[i].name, n))
			continue;
		s->shell = 1;
		if (stage_arg(s, "sh", &w) || stage_arg(s, "-c", &w) || stage_arg(s, command + 1, &w))
			cli_die(c, "%s", w.text);
		return;
	}
	cli_usage(c, "--stage: \"%s\" is not STAGE=COMMAND, where STAGE is tok, fwd, sample or detok", c->value);
}

/* A grammar or schema, by any of four options. */
static void take_grammar(struct request *q, const struct cli *c, const struct opt *o)
{
	q->grammar = 1;
	if ((strstr(o->name, "-file") || !strcmp(o->name, "schema")) && slurp_is_stdin(c->value))
		q->constraint = o->name;
	if (!strcmp(o->name, "grammar-file"))
		q->grammar_name = c->value;
}

static void take(struct request *q, const struct cli *c, const struct opt *o)
{
	switch (o->letter) {
	case 'p': q->prompt = c->value; break;
	case 'f': q->file = c->value; break;
	case 'e': q->escape = 1; break;
	case APPEND: q->append = 1; break;
	case ECHO: q->echo = 1; break;
	case LINES: q->lines = c->value; q->listed = 1; break;
	case 'j': q->jobs = (int)cli_integer(c, o, 1, LOOP_JOBS_MAX); break;
	case BEST_OF: q->best_of = 1; q->texts = (int)cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
	case 'N': q->listed = 1; q->texts = (int)cli_integer(c, o, 1, LOOP_TEXTS_MAX); break;
	case PENALTY: cli_real(c, o, 0, 10); break;
	case ALL: q->all = 1; break;
	case 'i': q->interactive = 1; /* fall through */
	case CONVERSATION: q->conversation = 1; break;
	case OPT_TOOLS: q->tools = q->templated = 1; break;
	case TOOL_COMMAND: q->tool_command = c->value; break;
	case TOOL_TIME: q->tool_time = (int)cli_integer(c, o, 1, 24 * 60 * 60); break;
	case YES: q->yes = 1; break;
	case HISTORY: q->history = c->value; /* fall through */
	case OPT_SYSTEM: case OPT_SET: case OPT_TEMPLATE: case OPT_NAME: q->templated = 1; break;
	case 's': q->seed = cli_integer(c, o, -1, INT64_MAX); q->seeded = q->seed >= 0; break;
	case 'n': q->n = cli_integer(c, o, -1, INT32_MAX); break;
	case REQUESTS: q->requests = 1; break;
	case ORDERED: q->ordered = 1; break;
	case RESUME: q->resume = c->value; break;
	case CACHE: q->cache = cli_integer(c, o, 0, INT32_MAX); break;
	case OPT_GREEDY: q->greedy = 1; break;
	case OPT_BUDGET: q->budget = (int32_t)cli_integer(c, o, 0, INT32_MAX); break;
	case OPT_GUMBEL: q->gumbel = 1; break;
	case JSON_SCHEMA: q->schema = 1; /* fall through */
	case OPT_GRAMMAR: take_grammar(q, c, o); break;
	case LENIENT: q->lenient = 1; break;
	case STOP: q->stop = 1; break;
	case 'v': q->verbose = 1; break;
	case JSON: q->json = 1; break;
	case LOGPROBS: cli_integer(c, o, 0, SAMPLER_BEST_MAX); q->likely = 1; break;
	case COLOR: q->color = 1; break;
	case VERIFY: q->verify = c->value; break;
	case 'm': q->model = c->value; break;
	case 'c': cli_integer(c, o, 0, INT32_MAX); break;
	case 't': cli_integer(c, o, -1, INT32_MAX); break;
	case OPT_KV: q->kv = c->value; break;
	case HOSTS: q->hosts = c->value; break;
	case DRAFT_MODEL: q->draft = c->value; break;
	case DRAFT_MAX: cli_integer(c, o, 1, GUESSES_MAX); break;
	case OWN: replace(q, c); break;
	case PRINT: q->print_pipeline = 1; break;
	case THINK: q->think = 1; break;
	case NO_THINK: q->think = -1; break;
	case NO_STDIN: q->no_stdin = 1; break;
	}
	q->pieces |= sampler_opt_of_text(o) || o->letter == JSON_SCHEMA;
}

/* Checks what depends on more than which options were given. */
static void check(const struct request *q, const struct cli *c)
{
	struct why w;

	if (q->templated && !q->conversation && !q->rendered && !q->requests)
		cli_usage(c, "--system, --tools, --set, --template, --template-name and --history require --chat, -i "
			"or a prompt");
	if (q->conversation && q->print_pipeline)
		cli_usage(c, "a conversation and --print-pipeline exclude each other: the first turn is chat | tok "
			"--no-bos | ...");
	if (q->json && q->print_pipeline && !q->listed)
		cli_usage(c, "--json and --print-pipeline exclude each other without --lines or -N/--texts");
	if (q->echo && !q->prompt && !q->file)
		cli_usage(c, "--echo requires a prompt on the command line or in a file");
	if (q->echo && q->escape && q->file)
		cli_usage(c, "--echo and -e/--escape exclude each other with a file");
	if (q->escape && q->stage[TOK].shell && !q->prompt)
		cli_usage(c, "-e/--escape and --stage tok exclude each other without a prompt on the command line");
	if (q->hosts && hosts_check(q->hosts, q->kv != NULL, &w) < 0)
		cli_usage(c, "--hosts: %s", w.text);
	if (q->lines && (q->prompt || q->file))
		cli_usage(c, "--lines: no prompts besides those in %s", q->lines);
	if (q->constraint && q->conversation && !q->once)
		cli_usage(c, "--%s: standard input holds the turns", q->constraint);
	if (q->requests && q->constraint && (!q->file || slurp_is_stdin(q->file)))
		cli_usage(c, "--%s: standard input holds the requests", q->constraint);
	if (q->requests && q->constraint && q->schema)
		cli_usage(c, "--%s: a file is required with --requests", q->constraint);
	if (q->constraint && !q->requests && (q->lines ? slurp_is_stdin(q->lines) : !q->prompt && !q->file))
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

static void refuse_model(const struct cli *c, const char *word)
{
	size_t n = strlen(word);

	if (n > 5 && !strcmp(word + n - 5, ".gguf") && !access(word, F_OK))
		cli_usage(c, "%s is a model: name it with -m", word);
}

/* A lone word that is a command elsewhere, or a model, is a mistake. */
static void refuse_command(const struct cli *c)
{
	static const struct { const char *word, *instead; } commands[] = {
		{ "list", "gguf --find lists the models" }, { "ls", "gguf --find lists the models" },
		{ "ps", "kv list shows what is kept" }, { "run", "ask -m MODEL asks, gen -i -m MODEL talks" },
		{ "chat", "gen -i talks" }, { "serve", "that is a program of its own" },
		{ "show", "gguf MODEL shows it" }, { "models", "gguf --find lists the models" },
		{ "rm", "models are files" }, { "cp", "models are files" }, { "create", "models are files" },
		{ "stop", "nothing runs in the background" },
		{ "pull", "download a file, and name it with -m" }, { "help", "see --help" }
	};
	const char *word = c->argc ? c->argv[0] : "";

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(word, commands[i].word))
			cli_usage(c, "\"%s\" is no prompt: %s", word, commands[i].instead);
	refuse_model(c, word);
}

/* Where the prompt comes from: one of an operand, -p and -f; - is standard input. With options of a conversation, the
 * prompt is its only turn. */
static void find_prompt(struct request *q, const struct cli *c)
{
	if (q->requests) {
		if (c->argc > 1)
			cli_usage(c, "unexpected operand \"%s\": one file of requests at most", c->argv[1]);
		q->file = c->argc && !slurp_is_stdin(c->argv[0]) ? c->argv[0] : NULL;
		return;
	}
	refuse_command(c);
	if (c->argc > 1)
		cli_usage(c, "unexpected operand \"%s\": quote the prompt (try --help)", c->argv[1]);
	if ((c->argc > 0) + (q->prompt != NULL) + (q->file != NULL) > 1)
		cli_usage(c, "one prompt at most: an operand, -p/--prompt or -f/--file");
	if (c->argc)
		q->prompt = c->argv[0];
	if (q->prompt && !strcmp(q->prompt, "-"))
		q->prompt = NULL;
	q->prompt_n = q->prompt ? strlen(q->prompt) : 0;
	if (q->file && slurp_is_stdin(q->file))
		q->file = NULL;
	if (q->listed || q->best_of) {
		q->rendered = q->conversation || q->templated;
		q->conversation = 0;
		return;
	}
	q->conversation |= q->templated && (q->prompt || q->file);
	/* the caller may have a use for standard input, as a loop over lines has */
	q->once = q->conversation && !q->interactive && (q->prompt || q->file);
}

/* Makes the prompt what the first stage is to print, or the turn of a conversation. */
static void read_prompt(struct request *q, const struct cli *c)
{
	static struct bytes text = { .limit = PROMPT_MAX };
	struct why w;

	if (q->escape && q->prompt)
		undo_escapes(q, c);
	/* tok opens the file of --lines, but chat and a command in its place cannot */
	if (q->lines && (q->rendered || q->stage[TOK].shell) && strcmp(q->lines, "-"))
		q->file = q->lines;
	if (q->file)
		check_file(q->file, c);
	if (!q->file || !q->conversation)
		return;
	if (slurp_text(q->file, &text, &w) || (bytes_put(&text, "", 1) && why(&w, "%s: too long", q->file)))
		cli_die(c, "%s", w.text);
	q->prompt = text.p;
	q->prompt_n = text.n - 1;
}

/* The program is a file, not a command of the shell. */
static void check_tool_command(struct request *q, const struct cli *c)
{
	static char path[PATH_MOST];
	struct stat st;

	if ((size_t)snprintf(path, sizeof path, "%s%s", strchr(q->tool_command, '/') ? "" : "./", q->tool_command)
	    >= sizeof path)
		cli_die(c, "--tool-command: %s", strerror(ENAMETOOLONG));
	if (stat(path, &st) || access(path, X_OK))
		cli_die(c, "--tool-command: %s: %s", q->tool_command, strerror(errno));
	if (S_ISDIR(st.st_mode))
		cli_die(c, "--tool-command: %s: %s", q->tool_command, strerror(EISDIR));
	if (!q->yes && !isatty(STDERR_FILENO))
		cli_usage(c, "--tool-command requires --yes where standard error is no terminal on which it could ask");
	q->tool_command = path;
}

static void read_all(struct request *q, struct cli *c)
{
	const struct opt *o;

	*q = (struct request){ .program = c->program, .speaker = c->program, .seed = -1, .texts = 1, .budget = -1,
		.tool_time = 60, .n = -1, .cache = -1 };
	while ((o = cli_next(c)))
		take(q, c, o);
	if (q->tool_command)
		check_tool_command(q, c);
	q->given = c->given;
	q->n_given = c->n_given;
	if (!q->budget)
		q->think = -1;
	if (q->json && q->grammar_name && !q->constraint)
		check_file(q->grammar_name, c);
	if (q->seed < 0)
		q->seed = (int64_t)(rng_seed() >> 33);
	if (q->texts > 1 && q->seed > INT64_MAX - q->texts)
		cli_usage(c, "--seed: there are no %d seeds from %" PRId64 " on", q->texts, q->seed);
}

/* The model, by default the shipped one of this file name. A model that cannot be found is reported here, and not by
 * whichever stage is the first to need it. */
static void find_its_model(struct request *q, const struct cli *c, const char *argv0, const char *shipped)
{
	struct why w;

	if (q->draft && strcmp(q->draft, "lookup") && !models_path(q->draft, &w))
		cli_die(c, "--draft: %s", w.text);
	if (!q->model && !(q->model = find_model(argv0, shipped)))
		cli_usage(c, "no model: name one with -m or $LMPIPE_MODEL");
	if (!(q->model = models_path(q->model, &w)))
		cli_die(c, "%s", w.text);
}

/* Whether the model has a chat template: 1, 0, or -1 for a file that cannot be read, which the stages report. */
static int has_template(const char *model)
{
	struct why ignored;
	struct gguf *g = gguf_open(model, 0, &ignored);
	int has = g ? gguf_find(g, "tokenizer.chat_template") != NULL : -1;

	gguf_close(g);
	return has;
}

/* Whether the model has no template of any kind, and no encoder. */
static int only_continues(const char *model)
{
	struct why ignored;
	struct gguf *g = has_template(model) ? NULL : gguf_open(model, 0, &ignored);
	int only = g && !strcmp(chat_fallback(g), "chatml");

	gguf_close(g);
	return only;
}

static int names_template(const struct request *q)
{
	for (size_t i = 0; i < q->n_given; i++)
		if (q->given[i].o->letter == OPT_TEMPLATE || q->given[i].o->letter == OPT_NAME)
			return 1;
	return 0;
}

/* The record has all options but those about where it runs. */
static void check_verify(const struct request *q, const struct cli *c)
{
	static const char *const names[] = { "verify", "model", "threads", "backend", "batch-size", "hosts" };
	size_t n = sizeof names / sizeof *names, k;

	for (size_t i = 0; i < q->n_given; i++) {
		for (k = 0; k < n && strcmp(q->given[i].o->name, names[k]); k++)
			;
		if (k == n)
			cli_usage(c, "--verify and --%s exclude each other: the record has the options",
				q->given[i].o->name);
	}
	if (c->argc)
		cli_usage(c, "--verify: unexpected operand \"%s\" (try --help)", c->argv[0]);
}

void options_record(struct request *q, const struct request *user, struct cli *c)
{
	const struct record *record = q->record;
	struct cli_given *all = calloc(record->n_given + user->n_given, sizeof *all);
	struct why w;

	if (!all)
		cli_die(c, "out of memory");
	q->given = all;
	memcpy(all, record->given, record->n_given * sizeof *all);
	memcpy(all + record->n_given, user->given, user->n_given * sizeof *all);
	q->n_given = record->n_given + user->n_given;
	q->model = record->model;
	q->texts = q->json = 1;
	q->marks = record->marks;
	q->grammar = q->pieces = record->grammar != NULL;
	for (size_t i = 0; i < q->n_given; i++) {
		c->value = all[i].value;
		take(q, c, all[i].o);
	}
	q->seed = record->seed;
	if (!(q->model = models_path(q->model, &w)))
		cli_die(c, "%s", w.text);
}

void options(struct request *q, struct cli *c)
{
	const char *argv0 = c->argv[0];
	int is_chat;

	read_all(q, c);
	if (q->verify) {
		check_verify(q, c);
		return;
	}
	find_prompt(q, c);
	check(q, c);
	read_prompt(q, c);
	is_chat = q->conversation || q->rendered || q->requests;
	find_its_model(q, c, argv0, is_chat ? SHIPPED_CHAT : SHIPPED);
	if (isatty(STDERR_FILENO) && !is_chat && !q->print_pipeline && has_template(q->model) > 0)
		cli_warn(c, "%s answers questions: try ask(1), or -i; gen continues the text", q->model);
	if (!is_chat && !q->prompt && !q->file && !q->lines && !q->print_pipeline && isatty(STDIN_FILENO)
	    && isatty(STDERR_FILENO))
		cli_warn(c, "reading the prompt from the terminal: ^D ends it (-i holds a conversation)");
	q->plain = q->interactive && !names_template(q) && only_continues(q->model);
}

/* ---- ask ---- */

/* The document, all of standard input. Somebody may have left it open without a thought: after a second says what is
 * waited for. */
static int read_document(const struct cli *c, const char *name, struct bytes *text, struct why *w)
{
	enum { SECOND = 1000 };
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	if (slurp_is_stdin(name) && isatty(STDERR_FILENO) && !poll(&in, 1, SECOND))
		cli_warn(c, "reading the document from standard input (--no-stdin: there is none)");
	return slurp_text(name, text, w);
}

/* The question, operands joined by blanks, then the document after an empty line. Returns where that begins. */
static size_t make_question(struct request *q, const struct cli *c)
{
	static struct bytes text = { .limit = PROMPT_MAX };
	const char *document = q->file ? q->file : q->no_stdin || isatty(STDIN_FILENO) ? NULL : "-";
	size_t n;
	struct why w;
	int failed = 0;

	if (q->prompt)
		failed = bytes_puts(&text, q->prompt);
	for (int i = 0; i < c->argc; i++)
		failed |= (text.n && bytes_puts(&text, " ")) || bytes_puts(&text, c->argv[i]);
	if (q->escape && text.n)
		text.n = quote_undo(text.p, text.n, text.p);
	q->escape = 0;
	n = text.n;
	if (document && n)
		failed |= bytes_puts(&text, "\n\n");
	if (!failed && document && read_document(c, document, &text, &w)) {
		failed = text.n == text.limit;
		if (!failed)
			cli_die(c, "%s", w.text);
	}
	/* a new line ends a document, and is not a part of it */
	while (text.n > n && text.p[text.n - 1] == '\n')
		text.n--;
	if (!failed && (!text.n || space_leading(text.p, text.n) == text.n))
		cli_usage(c, "no question (try --help)");
	if (failed || bytes_put(&text, "", 1))
		cli_die(c, "question and document are larger than %d MiB", PROMPT_MAX >> 20);
	q->prompt = text.p;
	q->prompt_n = text.n - 1;
	q->file = NULL;
	return n ? n + 2 : 0;
}

/* A turn of a conversation is UTF-8. The document, of that name, begins at `from`. */
static void check_text(const struct request *q, const struct cli *c, const char *document, size_t from)
{
	size_t good = utf8_valid(q->prompt, q->prompt_n);

	if (good < q->prompt_n && good < from)
		cli_die(c, "the question: byte %zu is not UTF-8", good);
	if (good < q->prompt_n)
		cli_die(c, "%s: byte %zu is not UTF-8", document, good - from);
}

/* Operands are words of the question; one that is a file is probably meant as the document, and so is a lone one that
 * looks like the name of a file. */
static void refuse_files(const struct cli *c)
{
	struct stat st;

	for (int i = 0; i < c->argc; i++) {
		refuse_model(c, c->argv[i]);
		if ((c->argc == 1 && !strpbrk(c->argv[i], "./")) || stat(c->argv[i], &st) || !S_ISREG(st.st_mode))
			continue;
		cli_usage(c, "%s is a file: -f %s makes it the document; %s", c->argv[i], c->argv[i],
			c->argc == 1 ? "with -p it is the question" : "in a question, quote all of it");
	}
}

void options_ask(struct request *q, struct cli *c)
{
	const char *argv0 = c->argv[0], *document;
	int templated;
	size_t from;

	read_all(q, c);
	q->answer = 1;
	if (c->argc == 1)
		refuse_command(c);
	refuse_files(c);
	if (q->constraint && !q->no_stdin && (!q->file || slurp_is_stdin(q->file)))
		cli_usage(c, "--%s: standard input holds the document", q->constraint);
	document = q->file && !slurp_is_stdin(q->file) ? q->file : "standard input";
	from = make_question(q, c);
	find_its_model(q, c, argv0, SHIPPED_CHAT);
	templated = names_template(q) || has_template(q->model);
	q->rendered = templated && q->listed;
	q->conversation = q->once = templated && !q->listed;
	/* with a grammar the answer comes at once; that of a schema has a place for reasoning, if it is asked for */
	if (q->grammar && !q->think && q->budget < 0)
		q->think = -1;
	if (templated)
		check_text(q, c, document, from);
	if (!templated && q->templated)
		cli_die(c, "%s has no chat template: name one with --template", q->model);
	if (!templated)
		cli_warn(c, "%s has no chat template (--template): its text continues the question", q->model);
}
