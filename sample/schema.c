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

static const struct opt opts[] = {
	{ 'f', "file", "FILE", "read the schema from FILE" },
	{ 0 }
};

static struct cli c = { .program = "schema", .synopsis = "[-f FILE | SCHEMA] [< schema.json] > grammar.gbnf",
	.purpose = "a JSON Schema to a GBNF grammar", .opts = opts };

int main(int argc, char **argv)
{
	struct bytes given = { .limit = GRAMMAR_TEXT }, grammar = { .limit = GRAMMAR_TEXT };
	const char *file = NULL;
	struct why w;

	cli_start(&c, argc, argv);
	while (cli_next(&c))
		file = c.value;
	if (c.argc + (file != NULL) > 1)
		cli_usage(&c, "more than one schema (try --help)");
	if (!c.argc && slurp_text(file ? file : "-", &given, &w))
		cli_die(&c, "%s", w.text);
	if (c.argc && strlen(c.argv[0]) > GRAMMAR_TEXT)
		cli_usage(&c, "the schema is longer than %d MiB", GRAMMAR_TEXT >> 20);
	if (c.argc && bytes_puts(&given, c.argv[0]))
		cli_die(&c, "out of memory");
	if (schema_grammar(given.p ? given.p : "", given.n, &grammar, &w)) {
		if (errno == ENOMEM)
			cli_die(&c, "%s", w.text);
		if (c.argc)
			cli_usage(&c, access(c.argv[0], F_OK) ? "%s" : "%s (a file is read with -f)", w.text);
		if (file)
			cli_usage(&c, "%s: %s", file, w.text);
		cli_die(&c, "standard input: %s", w.text);
	}
	out_bytes(grammar.p, grammar.n);
	bytes_free(&given);
	bytes_free(&grammar);
	return cli_end(&c);
}
