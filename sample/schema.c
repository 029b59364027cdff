/* schema: a JSON Schema to a grammar. Text to text: what `sample --grammar-file` reads. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/bytes.h"
#include "lib/base/cli.h"
#include "lib/base/out.h"
#include "lib/base/slurp.h"
#include "lib/grammar/grammar.h"
#include "lib/schema/schema.h"

enum { LENIENT = 1 };

static const struct opt opts[] = {
	{ 'f', "file", "FILE", "read the schema from FILE" },
	{ LENIENT, "lenient", NULL, "leave out what a grammar cannot express, with a warning for each" },
	{ 0 }
};

static struct cli c = { .program = "schema", .synopsis = "[--lenient] [-f FILE | SCHEMA] [< schema.json]"
	" > grammar.gbnf",
	.purpose = "a JSON Schema to a GBNF grammar", .opts = opts,
	.examples = "  schema < person.json > person.gbnf\n"
		"  schema '{\"type\": \"integer\"}'\n"
		"  gen -m m.gguf --grammar-file person.gbnf \"A person as JSON:\"\n" };

/* A line for each part of the schema that the grammar does without. */
static void warn(const struct bytes *left_out)
{
	for (size_t at = 0; at < left_out->n; at++) {
		const char *line = left_out->p + at;
		int n = (int)strcspn(line, "\n");

		cli_warn(&c, "%.*s: left out", n, line);
		at += (size_t)n;
	}
}

int main(int argc, char **argv)
{
	struct bytes given = { .limit = GRAMMAR_TEXT }, grammar = { .limit = GRAMMAR_TEXT },
		left_out = { .limit = GRAMMAR_TEXT };
	const char *file = NULL;
	const struct opt *o;
	int lenient = 0;
	struct why w;

	cli_start(&c, argc, argv);
	while ((o = cli_next(&c)))
		if (o->letter == LENIENT)
			lenient = 1;
		else
			file = c.value;
	if (c.argc + (file != NULL) > 1)
		cli_usage(&c, "more than one schema (try --help)");
	cli_must(&c, !c.argc && slurp_text(file ? file : "-", &given, &w), &w);
	if (c.argc && strlen(c.argv[0]) > GRAMMAR_TEXT)
		cli_usage(&c, "the schema is longer than %d MiB", GRAMMAR_TEXT >> 20);
	if (c.argc && bytes_puts(&given, c.argv[0]))
		cli_die(&c, "out of memory");
	if (schema_grammar(bytes_text(&given), given.n, lenient ? &left_out : NULL, &grammar, &w)) {
		if (errno == ENOMEM)
			cli_die(&c, "%s", w.text);
		if (c.argc)
			cli_usage(&c, access(c.argv[0], F_OK) ? "%s" : "%s (a file is read with -f)", w.text);
		cli_usage(&c, "%s: %s", file ? file : "standard input", w.text);
	}
	warn(&left_out);
	out_shown(grammar.p, grammar.n);
	out_shown_end();
	bytes_free(&left_out);
	bytes_free(&given);
	bytes_free(&grammar);
	return cli_end(&c);
}
