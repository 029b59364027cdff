/* What is said of an option that does not exist: what to use instead, if that is known. */
#include "cli_rows.h"

#include <stdio.h>
#include <string.h>

#include "llama_options.h"
#include "similar.h"

/* Options that have another name now, or in this program, or that another program has. */
static const struct {
	const char *program, *option, *now;
} renamed[] = {
	{ "peek", "-n", "--top" }, { "tok", "--text", "--decimal" }, { "fwd", "--set", "--override" },
	{ "gen", "--schema", "--json-schema-file" }, { "gen", "--no-think", "--think-budget 0" },
	{ "gen", "--think", "ask --think" }, { "gen", "--no-stdin", "ask --no-stdin" },
	{ "ask", "--lines", "gen --chat --lines" }, { "ask", "--best-of", "gen --chat --best-of" },
	{ "ask", "--chat", "gen --chat" }, { "ask", "--interactive", "gen -i" }, { "ask", "-i", "gen -i" },
	{ "ask", "--print-pipeline", "gen --print-pipeline" }, { "ask", "--stage", "gen --chat --stage" },
	{ "tok", "-p", "printf %s TEXT | tok MODEL" }, { "tok", "--prompt", "printf %s TEXT | tok MODEL" },
	{ "tok", "-f", "tok MODEL FILE" }, { "tok", "--file", "tok MODEL FILE" }, { "tok", "--show-count", "--count" },
	{ "fwd", "-p", "tok MODEL | fwd MODEL" }, { "bench", "-pg", "-p and -n" },
	{ "embed", "-p", "printf %s TEXT | embed MODEL" }, { "embed", "-f", "embed MODEL FILE" },
	{ "score", "-f", "tok MODEL FILE | fwd --score MODEL | score" },
	{ "score", "--perplexity", "tok --chunk 512 MODEL FILE | fwd --score MODEL | score --chunk 512" }
};

/* Exits if the option is one of these. */
static void refuse_renamed(const struct cli *c, const char *option)
{
	size_t n = strcspn(option, "=");

	for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
		if (!strcmp(c->program, renamed[i].program) && strlen(renamed[i].option) == n
		    && !memcmp(option, renamed[i].option, n))
			cli_usage(c, "unknown option %s; did you mean %s? (try --help)", renamed[i].option,
				renamed[i].now);
}

/* Whether the option s[n], with its dashes, names a repository of Hugging Face. */
static int names_repository(const char *s, size_t n)
{
	static const char *const names[] = { "-hf", "-hfr", "--hf-repo" };
	size_t i = 0;

	while (i < 3 && (strlen(names[i]) != n || memcmp(s, names[i], n)))
		i++;
	return i < 3;
}

/* Exits if the option s[n] names the model, which is an operand of the program. */
static void refuse_model(const struct cli *c, const char *s, size_t n)
{
	int is_model = (n == 2 && !memcmp(s, "-m", n)) || (n == 7 && !memcmp(s, "--model", n));

	if (is_model && strstr(c->synopsis, "MODEL"))
		cli_usage(c, "unknown option %.*s: the model is an operand (try --help)", (int)n, s);
}

void cli_refuse_foreign(const struct cli *c, const char *option)
{
	size_t n = strcspn(option, "=");
	const char *instead = llama_options_instead(option, n);
	const char *repository = option[n] ? option + n + 1 : c->at < c->argc ? c->argv[c->at] : "";

	refuse_renamed(c, option);
	refuse_model(c, option, n);
	/* the value stands after the word, which may have been passed already */
	if (!strcmp(repository, option))
		repository = c->at + 1 < c->argc ? c->argv[c->at + 1] : "";
	if (names_repository(option, n))
		cli_usage(c, "%.*s: fetch a file from https://huggingface.co/%.*s/tree/main, and name it with -m",
			(int)n, option, (int)strcspn(repository, ":"), repository);
	if (instead)
		cli_usage(c, "%.*s: %s", (int)n, option, instead);
}

_Noreturn void cli_refuse_value(const struct cli *c, const struct opt *o, const char *value)
{
	char no[64];

	snprintf(no, sizeof no, "no-%s", o->name);
	if ((!strcmp(value, "false") || !strcmp(value, "off")) && cli_rows_find(c, 0, no, strlen(no)))
		cli_usage(c, "--%s takes no argument; did you mean --%s?", o->name, no);
	cli_usage(c, "--%s takes no argument", o->name);
}

_Noreturn void cli_unknown(const struct cli *c, const char *s, size_t n)
{
	char name[64];
	struct cli_walk walk = { 0 };
	const struct opt *o, *nearest = NULL;
	int distance = 0, least = 0;

	snprintf(name, sizeof name, "%.*s", (int)n, s);
	while ((o = cli_rows_next(c, &walk))) {
		if (!o->name || !similar(name, o->name))
			continue;
		distance = similar_distance(name, o->name);
		if (!nearest || distance < least) {
			nearest = o;
			least = distance;
		}
	}
	if (nearest && n < sizeof name)
		cli_usage(c, "unknown option --%s; did you mean --%s? (try --help)", name, nearest->name);
	cli_usage(c, "unknown option --%s (try --help)", s);
}
