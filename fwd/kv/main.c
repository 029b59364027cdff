/* kv: lists, shows, saves, loads, forks, trims and removes the segments that fwd --kv keeps. */
#include <string.h>

#include "lib/base/cli.h"
#include "lib/base/cli_rows.h"
#include "lib/base/guard.h"
#include "fwd/state/object.h"
#include "fwd/state/segment.h"
#include "commands.h"
#include "settings.h"

static struct cli c = { .program = "kv",
	.synopsis = "list | info NAME... | show NAME | ids NAME... | save NAME | load NAME | find | "
		"fork FROM TO | trim NAME N | rm NAME...",
	.purpose = "the KV segments that fwd --kv keeps", .opts = settings_opts,
	.examples = "  kv list\n"
		"  kv fork story other\n"
		"  kv save story | ssh host kv load story\n" };

static const struct command *find_command(const char *name)
{
	for (const struct command *command = commands; command->name; command++)
		if (!strcmp(name, command->name))
			return command;
	if (!strcmp(name, "ls") || !strcmp(name, "ps"))
		cli_usage(&c, "\"%s\" is not a command; did you mean list? (try --help)", name);
	cli_usage(&c, "\"%s\" is not a command (try --help)", name);
}

static void check_names(const struct command *command, char **name, size_t n)
{
	size_t tokens = command->counts;
	struct why w;

	for (size_t i = 0; i + tokens < n; i++)
		if (!(command->parts && object_is_part(name[i])) && object_check_name(name[i], &w) < 0)
			cli_usage(&c, "%s", w.text);
	if (tokens && settings_number(name[n - 1], strlen(name[n - 1]), SEGMENT_CTX_MAX) < 0)
		cli_usage(&c, "%s: \"%s\" is not a number of tokens from 0 to %d", command->name, name[n - 1],
			SEGMENT_CTX_MAX);
}

static void check(const struct command *command, const struct settings *set)
{
	const size_t n = (size_t)c.argc - 1, least = set->older || set->keeps ? 0 : command->least;

	for (size_t i = 0; settings_opts[i].name; i++)
		if (set->given & 1u << i && !cli_row_is_among(&settings_opts[i], command->options))
			cli_usage(&c, "%s does not take --%s", command->name, settings_opts[i].name);
	if (set->older && set->keeps)
		cli_usage(&c, "--older and --keep exclude each other");
	if (n < least || n > command->most)
		cli_usage(&c, "%s takes %s (try --help)", command->name, !command->most ? "no name"
			: command->most == 1 ? "one name" : command->most > 2 ? "names"
			: command->counts ? "a name and a number" : "two names");
	check_names(command, c.argv + 1, n);
}

int main(int argc, char **argv)
{
	const struct command *command;
	struct settings set = { 0 };
	struct why w;

	cli_start(&c, argc, argv);
	settings_read(&set, &c);
	if (c.argc < 1)
		cli_usage(&c, "no command (try --help)");
	command = find_command(c.argv[0]);
	check(command, &set);
	if (command->binary)
		cli_binary(&c, command->binary - 1);
	guard_arm(c.program);
	cli_must(&c, command->run(c.argv + 1, (size_t)c.argc - 1, &set, &w) < 0, &w);
	return cli_end(&c);
}
