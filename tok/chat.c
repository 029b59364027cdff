/* chat: renders messages as text with the model's chat template. The text is ready for tok --no-bos: the template has
 * placed the special tokens. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "lib/chat/chat_opts.h"
#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/lines.h"
#include "lib/base/out.h"
#include "lib/base/slurp.h"
#include "lib/gguf/models.h"
#include "lib/grammar/grammar.h"
#include "lib/schema/schema.h"
#include "chat_grammar.h"
#include "chat_parse.h"

enum { NO_PROMPT = 1, CONTINUE, TEXT, LINES, NOW, PRINT_TEMPLATE, PARSE, MESSAGES, STREAM, SHOW, GRAMMAR,
	CHOICE, ONE_CALL, SCHEMA, SCHEMA_FILE, LENIENT };

static const struct opt opts[] = {
	{ NO_PROMPT, "no-generation-prompt", NULL, "do not end with the start of an answer" },
	{ CONTINUE, "continue", NULL, "the last message is an answer that the model is to continue" },
	{ TEXT, "text", NULL, "the input is the text of one user message, even if it looks like JSON" },
	{ LINES, "lines", NULL, "make each line of the input messages of its own, and print each text as JSON" },
	{ NOW, "now", "DATE",
		"the date that a template sees, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS (default: the clock)" },
	{ PRINT_TEMPLATE, "print-template", NULL, "print the template and exit" },
	{ PARSE, "parse", NULL, "the input is the text of the model's answer: print it as a message, in JSON" },
	{ MESSAGES, "messages", "FILE", "with --parse, --grammar: the messages that the answer is to" },
	{ STREAM, "stream", NULL, "with --parse: print parts of the message as they become certain, one per line" },
	{ SHOW, "show", NULL, "with --parse: print how the model marks the parts of an answer, and exit" },
	{ GRAMMAR, "grammar", NULL, "print a grammar of answers: reasoning, then calls or text" },
	{ CHOICE, "tool-choice", "WHICH",
		"with --grammar: auto (default), none, required, or the name of the tool to call" },
	{ ONE_CALL, "no-parallel-tool-calls", NULL, "with --grammar: one call at most" },
	{ SCHEMA, "json-schema", "SCHEMA", "with --grammar: the answer is JSON valid against this schema" },
	{ SCHEMA_FILE, "json-schema-file", "FILE", "the same, from a file" },
	{ LENIENT, "lenient", NULL, "with --grammar: leave out of schemas what cannot be enforced, with warnings" },
	{ 'v', "verbose", NULL, "say on stderr what the template refuses or leaves out, and what was done" },
	{ 0 }
};

static const struct cli_rule rules[] = {
	{ "template", .excludes = "template-name" },
	{ "stream show", .requires = "parse" },
	{ "messages", .requires = "parse grammar" },
	{ "tool-choice no-parallel-tool-calls json-schema json-schema-file lenient", .requires = "grammar" },
	{ "stream", .excludes = "show" },
	{ "json-schema", .excludes = "json-schema-file" },
	{ "parse grammar", .excludes = "continue no-generation-prompt text print-template" },
	{ "parse", .excludes = "grammar" },
	{ "lines", .excludes = "parse grammar print-template" },
	{ 0 }
};

static struct cli c = { .program = "chat", .synopsis = "[options] MODEL < messages > text",
	.purpose = "messages to text, by the model's chat template",
	.opts = opts, .more = { chat_opts }, .rules = rules,
	.common = "no-generation-prompt continue text print-template parse messages stream grammar tool-choice "
		"json-schema-file system tools set template",
	.examples = "  echo '{\"role\": \"user\", \"content\": \"hi\"}' | chat m.gguf\n"
		"  chat --tools tools.json m.gguf < messages | tok --no-bos m.gguf | ...\n"
		"  chat --parse --messages messages m.gguf < answer\n" };
static struct why w;

struct chat_settings {
	struct chat_setup setup;
	struct tm now;
	const char *messages;
	int dated, no_prompt, open, text, lines, print, verbose;
	int parse, grammar;
	enum chat_parse what;
	struct rules_wish wish;         /* of the grammar */
	struct bytes schema, left_out;
	const char *schema_name;        /* the file of the schema, or its option */
	int another;                    /* the model has no template, and another is used: */
	struct why what_other;
	size_t n_remarked;
};

static void date(struct chat_settings *set)
{
	struct tm *t = &set->now;
	int n = 0, all = 0, fields = sscanf(c.value, "%4d-%2d-%2d%n%*1[T ]%2d:%2d:%2d%n", &t->tm_year, &t->tm_mon,
		&t->tm_mday, &n, &t->tm_hour, &t->tm_min,
		&t->tm_sec, &all);
	struct tm given;

	t->tm_year -= 1900;
	t->tm_mon -= 1;
	t->tm_isdst = -1;
	given = *t;
	/* mktime() sets the day of the week, and changes a date that does not exist, which is refused. */
	if (c.value[fields == 6 ? all : n] || (fields != 3 && fields != 6) || mktime(t) == (time_t)-1
	    || t->tm_mon != given.tm_mon || t->tm_mday != given.tm_mday || t->tm_hour != given.tm_hour
	    || t->tm_min != given.tm_min || t->tm_sec != given.tm_sec)
		cli_usage(&c, "--now: \"%s\" is not a date as YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS", c.value);
	set->dated = 1;
}

static void take_choice(struct rules_wish *wish)
{
	wish->choice = !strcmp(c.value, "auto") ? RULES_AUTO : !strcmp(c.value, "none") ? RULES_NONE
		: !strcmp(c.value, "required") ? RULES_REQUIRED : RULES_NAMED;
	wish->name = c.value;
}

static void take_schema(struct chat_settings *set, int is_file)
{
	set->schema_name = !is_file ? "--json-schema" : slurp_is_stdin(c.value) ? "standard input" : c.value;
	set->schema.limit = GRAMMAR_TEXT;
	if (is_file ? slurp_text(c.value, &set->schema, &w) : bytes_puts(&set->schema, c.value))
		cli_usage(&c, "%s", is_file ? w.text : "--json-schema: too long");
	set->wish.schema = &set->schema;
}

/* A schema of which no grammar can be made is a usage error, as it is to schema. */
static void check_schema(const struct chat_settings *set)
{
	struct bytes grammar = { .limit = GRAMMAR_TEXT }, left_out = { .limit = GRAMMAR_TEXT };

	if (schema_grammar(set->schema.p ? set->schema.p : "", set->schema.n, set->wish.left_out ? &left_out : NULL,
		&grammar, &w))
		cli_refuse(&c, "%s: %s", set->schema_name, w.text);
	bytes_free(&grammar);
	bytes_free(&left_out);
}

static void options(struct chat_settings *set)
{
	struct chat_setup *s = &set->setup;
	const struct opt *o;
	const char *input;

	while ((o = cli_next(&c)))
		switch (o->letter) {
		case NO_PROMPT: set->no_prompt = 1; break;
		case CONTINUE: set->open = 1; break;
		case TEXT: set->text = 1; break;
		case LINES: set->lines = 1; break;
		case NOW: date(set); break;
		case PRINT_TEMPLATE: set->print = 1; break;
		case PARSE: set->parse = 1; break;
		case MESSAGES: set->messages = c.value; break;
		case STREAM: set->what = PARSE_STREAM; break;
		case SHOW: set->what = PARSE_SHOW; break;
		case GRAMMAR: set->grammar = 1; break;
		case CHOICE: take_choice(&set->wish); break;
		case ONE_CALL: set->wish.one_call = 1; break;
		case LENIENT: set->wish.left_out = &set->left_out; break;
		case SCHEMA: case SCHEMA_FILE: take_schema(set, o->letter == SCHEMA_FILE); break;
		case 'v': set->verbose = 1; break;
		default:
			if (chat_take(s, o, c.value, &w) < 0)
				cli_usage(&c, "%s", w.text);
		}
	set->left_out.limit = GRAMMAR_TEXT;
	input = set->parse ? "answer" : "messages";
	if (!set->print && s->tools && slurp_is_stdin(s->tools))
		cli_usage(&c, "--tools: standard input holds the %s", input);
	if (!set->print && s->template && slurp_is_stdin(s->template))
		cli_usage(&c, "--template: standard input holds the %s", input);
	if (set->messages && slurp_is_stdin(set->messages))
		cli_usage(&c, "--messages: standard input holds the answer");
	if (c.argc != 1)
		cli_usage(&c, "expected one operand, the model (try --help)");
	if (set->wish.schema)
		check_schema(set);
}

/* Adds messages: as JSON if they begin like it, otherwise as one of the user. */
static int add(struct chat *chat, const char *text, size_t n, int as_text)
{
	size_t blank = json_blank(text, n);

	if (!as_text && blank < n && (text[blank] == '{' || text[blank] == '['))
		return chat_add_json(chat, text, n, &w);
	return blank == n ? 0 : chat_add_text(chat, "user", text, n - (text[n - 1] == '\n'), &w);
}

/* Adds the messages of a file; "-": standard input. */
static void add_messages(struct chat *chat, const char *name, int as_text)
{
	struct bytes in = { .limit = CHAT_FILE_MAX };

	if (slurp_text(name, &in, &w))
		cli_die(&c, "%s", w.text);
	if (add(chat, in.p, in.n, as_text))
		cli_die(&c, "%s: %s", slurp_is_stdin(name) ? "standard input" : name, w.text);
	bytes_free(&in);
}

/* A line for each part of schemas that the grammar does without. */
static void warn_left_out(const struct bytes *lines)
{
	for (size_t at = 0; at < lines->n; at++) {
		int n = (int)strcspn(lines->p + at, "\n");

		cli_warn(&c, "%.*s: left out", n, lines->p + at);
		at += (size_t)n;
	}
}

static void print(const struct bytes *b)
{
	if (b->n)
		out_shown(b->p, b->n);
	out_shown_close();
}

/* Finds the template of the conversation, which its messages and --set may change. */
static int choose(struct chat *chat, struct chat_settings *set, const struct gguf *g, struct bytes *template)
{
	if ((set->no_prompt && chat_set_flag(chat, "add_generation_prompt", 0, &w))
	    || (set->open && chat_continue(chat, &w)))
		return -1;
	set->another = chat_choose(chat, &set->setup, g, template, &w);
	set->what_other = w;
	return set->another < 0 ? -1 : 0;
}

/* What the user should know about a text; that another template is used only once. */
static void remark(const struct chat *chat, struct chat_settings *set)
{
	const char *remark;
	unsigned remarks = 0;

	if (set->another && !set->n_remarked++)
		cli_warn(&c, "%s", set->what_other.text);
	while (set->verbose && !set->print && (remark = chat_remark(chat, &remarks)))
		cli_warn(&c, "%s", remark);
}

/* ---- one conversation ---- */

static void write_one(struct chat_settings *set, const struct gguf *g, const struct vocab *vocab,
	const struct jinja_options *how)
{
	struct bytes template = { .limit = CHAT_FILE_MAX }, text = { .limit = CHAT_TEXT_MAX };
	struct chat chat;
	int failed = chat_open(&chat, &set->setup, vocab, &w);

	if (!failed && !set->print && (!(set->parse || set->grammar) || set->messages))
		add_messages(&chat, set->messages ? set->messages : "-", set->text);
	failed = failed || choose(&chat, set, g, &template);
	if (!failed && set->grammar)
		failed = chat_grammar(&chat, template.p, template.n, how, vocab, &set->wish, &w);
	else if (!failed && set->parse)
		failed = chat_parse(&chat, template.p, template.n, how, set->what, &w);
	else if (!failed && !set->print)
		failed = chat_render(&chat, template.p, template.n, how, &text, &w);
	if (failed)
		cli_die(&c, "%s", w.text);
	warn_left_out(&set->left_out);
	remark(&chat, set);
	print(set->print ? &template : &text);
	bytes_free(&text);
	bytes_free(&template);
	chat_end(&chat);
}

/* ---- one on each line ---- */

/* Adds the messages of a line, which may also be a JSON string. */
static int add_line(struct chat *chat, const char *line, size_t n, int as_text)
{
	struct arena a = { .limit = CHAT_MEMORY };
	size_t blank = json_blank(line, n);
	struct json *v = !as_text && blank < n && line[blank] == '"' ? json_parse(&a, line, n, &w) : NULL;
	int failed = v ? chat_add_text(chat, "user", v->s, v->n, &w) : add(chat, line, n, as_text);

	arena_free(&a);
	return failed;
}

static int render_line(struct chat_settings *set, const struct gguf *g, const struct vocab *vocab,
	const struct jinja_options *how, const char *line, size_t n, struct bytes *text)
{
	struct bytes template = { .limit = CHAT_FILE_MAX };
	struct chat chat;
	int failed = chat_open(&chat, &set->setup, vocab, &w) || add_line(&chat, line, n, set->text)
		|| choose(&chat, set, g, &template) || chat_render(&chat, template.p, template.n, how, text, &w);

	if (!failed)
		remark(&chat, set);
	bytes_free(&template);
	chat_end(&chat);
	return failed;
}

/* A blank line has an empty text, and one that cannot be rendered null, so that the lines match. */
static void write_lines(struct chat_settings *set, const struct gguf *g, const struct vocab *vocab,
	const struct jinja_options *how)
{
	size_t n, failed = 0;
	struct lines lines;
	char *line;
	int got;

	if (lines_open(&lines, "-", &w))
		cli_die(&c, "%s", w.text);
	while ((got = lines_next(&lines, &line, &n, &w)) > 0) {
		struct bytes text = { .limit = CHAT_TEXT_MAX };
		struct json_writer out = json_to_out();

		if (json_blank(line, n) < n && render_line(set, g, vocab, how, line, n, &text)) {
			cli_warn(&c, "line %zu: %s", lines.number, w.text);
			failed++;
			json_raw(&out, "null");
		} else {
			json_string(&out, text.p ? text.p : "", text.n);
		}
		out_char('\n');
		bytes_free(&text);
		if (out_flush(&w))
			cli_die(&c, "%s", w.text);
	}
	if (got < 0)
		cli_die(&c, "%s", w.text);
	if (failed)
		cli_failed(&c, "lines that failed: %zu of %zu", failed, lines.number);
	lines_close(&lines);
}

int main(int argc, char **argv)
{
	static struct chat_settings set;
	struct jinja_options how = { 0 };
	struct vocab *vocab;
	struct gguf *g;

	cli_start(&c, argc, argv);
	options(&set);
	guard_arm(c.program);
	if (!(g = gguf_open(models_path(c.argv[0], &w), 0, &w)) || !(vocab = vocab_open(g, VOCAB_PIECES, &w)))
		cli_die(&c, "%s", w.text);
	how.now = set.dated ? &set.now : NULL;
	(set.lines ? write_lines : write_one)(&set, g, vocab, &how);
	bytes_free(&set.schema);
	bytes_free(&set.left_out);
	vocab_close(vocab);
	gguf_close(g);
	return cli_end(&c);
}
