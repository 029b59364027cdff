/* gguf: shows what a model file contains, and whether lmpipe can run it. */
#include <stdio.h>
#include <unistd.h>

#include "lib/base/cli.h"
#include "lib/base/guard.h"
#include "lib/base/out.h"
#include "lib/gguf/models.h"
#include "check.h"
#include "describe.h"
#include "found.h"

enum { JSON = 1, CHECK, VOCAB, TEMPLATE, FIND };

static const struct opt opts[] = {
	{ JSON, "json", NULL, "print lines of JSON, with strings and arrays in full" },
	{ CHECK, "check", NULL, "print every fault of the file, and whether lmpipe runs it" },
	{ VOCAB, "vocab", NULL, "print the vocabulary: id, type, text" },
	{ TEMPLATE, "template", NULL, "print the chat template" },
	{ FIND, "find", NULL, "list the models on this machine, or those that NAME stands for" },
	{ 0 }
};

static const struct cli_rule rules[] = {
	{ .one_of = "check vocab template find" },
	{ "json", .excludes = "check template" },
	{ 0 }
};

static struct cli c = { .program = "gguf", .synopsis = "[options] MODEL | --find [NAME]",
	.purpose = "what a model file holds", .opts = opts, .rules = rules,
	.examples = "  gguf --find\n"
		"  gguf m.gguf | grep rope\n"
		"  gguf --check m.gguf\n" };
static struct why w;

/* Returns the action, or 0. *json: whether --json was given. */
static int read_options(int *json)
{
	const struct opt *o;
	int action = 0;

	*json = 0;
	while ((o = cli_next(&c)))
		if (o->letter == JSON)
			*json = 1;
		else
			action = o->letter;
	if (c.argc == 2 && access(c.argv[0], F_OK) && !access(c.argv[1], F_OK))
		cli_usage(&c, "\"%s\" is not a model: gguf %s shows that one", c.argv[0], c.argv[1]);
	if (c.argc != 1 && (action != FIND || c.argc))
		cli_usage(&c, c.argc ? "more than one model (try --help)" : "no model (try --help)");
	return action;
}

static void check(const char *path)
{
	static const char *const verdicts[1 << CHECK_PROGRAMS] = { NULL, "tok", "fwd", "tok and fwd", "chat",
		"tok and chat", "fwd and chat", "tok, fwd and chat" };
	int added = check_added(path, &w);
	unsigned not_for = 0;
	struct check found;

	cli_must(&c, added < 0, &w);
	if (added)
		return;
	found = check_file(path, 0);
	for (int i = 0; i < CHECK_PROGRAMS; i++)
		not_for |= (unsigned)!!found.of[i] << i;
	if (not_for)
		cli_die(&c, "%s: unusable by %s (%zu fault%s)", path, verdicts[not_for], found.n,
			found.n == 1 ? "" : "s");
	out_print("%s: runs\n", path);
}

/* Describes a file even if the data of its tensors is damaged; the error follows at the end. */
static void describe(const char *path, int json)
{
	struct gguf *g = gguf_open(path, 1, &w), *keys = g;
	struct why ignored;

	if (!g)
		keys = gguf_open(path, 0, &ignored);
	if (keys)
		describe_file(keys, json);
	gguf_close(keys);
	cli_must(&c, !g, &w);
}

int main(int argc, char **argv)
{
	struct gguf *g;
	const char *path;
	int action, json;

	cli_start(&c, argc, argv);
	action = read_options(&json);
	guard_arm(c.program);
	if (action == FIND) {
		cli_must(&c, found_list(c.argc ? c.argv[0] : NULL, json, &w), &w);
		return cli_end(&c);
	}
	cli_must(&c, !(path = models_path(c.argv[0], &w)), &w);
	if (action == CHECK) {
		check(path);
		return cli_end(&c);
	}
	if (!action) {
		describe(path, json);
		return cli_end(&c);
	}
	g = gguf_open(path, 0, &w);
	cli_must(&c, !g, &w);
	if ((action == VOCAB ? describe_vocab(g, json, &w) : describe_template(g, &w)) < 0)
		cli_die(&c, "%s: %s", path, w.text);
	gguf_close(g);
	return cli_end(&c);
}
