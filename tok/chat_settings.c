/* The options of chat. A schema is read and checked with them, so that a wrong one is a usage error. */
#include "chat_settings.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/slurp.h"
#include "lib/chat/chat_opts.h"
#include "lib/grammar/grammar.h"
#include "lib/schema/schema.h"

enum { NO_PROMPT = 1, CONTINUE, TEXT, LINES, NOW, PRINT_TEMPLATE, PARSE, MESSAGES, STREAM, SHOW, GRAMMAR,
	CHOICE, ONE_CALL, SCHEMA, SCHEMA_FILE, LENIENT };

const struct opt chat_settings_opts[] = {
	{ NO_PROMPT, "no-generation-prompt", NULL, "do not end with the start of an answer" },
	{ CONTINUE, "continue", NULL, "the last message is an answer that the model is to continue" },
	{ TEXT, "text", NULL, "the input is the text of one user message, even if it looks like JSON" },
	{ LINES, "lines", NULL, "make each line of the input messages of its own, and print each text as JSON" },
	{ NOW, "now", "DATE",
		"the date that a template sees, YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS (default: the clock)" },
	{ PRINT_TEMPLATE, "print-template", NULL, "print the template and exit" },
	{ PARSE, "parse", NULL, "the input is the text of the model's answer: print it as a message, in JSON" },
	{ MESSAGES, "messages", "FILE", "with --parse, --grammar: the messages before the answer" },
	{ STREAM, "stream", NULL, "with --parse: print parts of the message as they become certain, one per line" },
	{ SHOW, "show", NULL, "with --parse: print how the model marks the parts of an answer, and exit" },
	{ GRAMMAR, "grammar", NULL, "print a grammar of answers: reasoning, then calls or text" },
	{ CHOICE, "tool-choice", "WHICH",
		"with --grammar: auto (default), none, required, or the name of the tool to call" },
	{ ONE_CALL, "no-parallel-tool-calls", NULL, "with --grammar: one call at most" },
	{ SCHEMA, "json-schema", "TEXT", "with --grammar: the answer is JSON valid against this schema" },
	{ SCHEMA_FILE, "json-schema-file", "FILE", "the same, from a file" },
	{ LENIENT, "lenient", NULL, "with --grammar: leave out of schemas what cannot be enforced, with warnings" },
	{ 'v', "verbose", NULL, "say on stderr what the template refuses or leaves out, and what was done" },
	{ 0 }
};

const struct cli_rule chat_settings_rules[] = {
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

static void date(struct chat_settings *set, const struct cli *c)
{
	struct tm *t = &set->now;
	int n = 0, all = 0, fields = sscanf(c->value, "%4d-%2d-%2d%n%*1[T ]%2d:%2d:%2d%n", &t->tm_year, &t->tm_mon,
		&t->tm_mday, &n, &t->tm_hour, &t->tm_min,
		&t->tm_sec, &all);
	struct tm given;

	t->tm_year -= 1900;
	t->tm_mon -= 1;
	t->tm_isdst = -1;
	given = *t;
	/* mktime() sets the day of the week, and changes a date that does not exist, which is refused. */
	if (c->value[fields == 6 ? all : n] || (fields != 3 && fields != 6) || mktime(t) == (time_t)-1
	    || t->tm_mon != given.tm_mon || t->tm_mday != given.tm_mday || t->tm_hour != given.tm_hour
	    || t->tm_min != given.tm_min || t->tm_sec != given.tm_sec)
		cli_usage(c, "--now: \"%s\" is not a date as YYYY-MM-DD or YYYY-MM-DDTHH:MM:SS", c->value);
	set->dated = 1;
}

static void take_choice(struct rules_wish *wish, const struct cli *c)
{
	wish->choice = !strcmp(c->value, "auto") ? RULES_AUTO : !strcmp(c->value, "none") ? RULES_NONE
		: !strcmp(c->value, "required") ? RULES_REQUIRED : RULES_NAMED;
	wish->name = c->value;
}

/* Returns the name of the schema for messages. */
static const char *take_schema(struct chat_settings *set, const struct cli *c, int is_file)
{
	struct why w;

	set->schema.limit = GRAMMAR_TEXT;
	if (is_file ? slurp_text(c->value, &set->schema, &w) : bytes_puts(&set->schema, c->value))
		cli_usage(c, "%s", is_file ? w.text : "--json-schema: too long");
	set->wish.schema = &set->schema;
	return !is_file ? "--json-schema" : slurp_is_stdin(c->value) ? "standard input" : c->value;
}

/* A schema of which no grammar can be made is a usage error, as it is to schema. */
static void check_schema(const struct chat_settings *set, const char *name, const struct cli *c)
{
	struct bytes grammar = { .limit = GRAMMAR_TEXT }, left_out = { .limit = GRAMMAR_TEXT };
	struct why w;

	if (schema_grammar(bytes_text(&set->schema), set->schema.n, set->wish.left_out ? &left_out : NULL,
		&grammar, &w))
		cli_refuse(c, "%s: %s", name, w.text);
	bytes_free(&grammar);
	bytes_free(&left_out);
}

void chat_settings_read(struct chat_settings *set, struct cli *c)
{
	struct chat_setup *s = &set->setup;
	const struct opt *o;
	const char *input, *schema = NULL;
	struct why w;

	while ((o = cli_next(c)))
		switch (o->letter) {
		case NO_PROMPT: set->no_prompt = 1; break;
		case CONTINUE: set->open = 1; break;
		case TEXT: set->text = 1; break;
		case LINES: set->lines = 1; break;
		case NOW: date(set, c); break;
		case PRINT_TEMPLATE: set->print = 1; break;
		case PARSE: set->parse = 1; break;
		case MESSAGES: set->messages = c->value; break;
		case STREAM: set->what = PARSE_STREAM; break;
		case SHOW: set->what = PARSE_SHOW; break;
		case GRAMMAR: set->grammar = 1; break;
		case CHOICE: take_choice(&set->wish, c); break;
		case ONE_CALL: set->wish.one_call = 1; break;
		case LENIENT: set->wish.left_out = &set->left_out; break;
		case SCHEMA: case SCHEMA_FILE: schema = take_schema(set, c, o->letter == SCHEMA_FILE); break;
		case 'v': set->verbose = 1; break;
		default:
			if (chat_take(s, o, c->value, &w) < 0)
				cli_usage(c, "%s", w.text);
		}
	set->left_out.limit = GRAMMAR_TEXT;
	input = set->parse ? "answer" : "messages";
	if (!set->print && s->tools && slurp_is_stdin(s->tools))
		cli_usage(c, "--tools: standard input holds the %s", input);
	if (!set->print && s->template && slurp_is_stdin(s->template))
		cli_usage(c, "--template: standard input holds the %s", input);
	if (set->messages && slurp_is_stdin(set->messages))
		cli_usage(c, "--messages: standard input holds the answer");
	if (c->argc != 1)
		cli_usage(c, "expected one operand, the model (try --help)");
	if (set->wish.schema)
		check_schema(set, schema, c);
}
