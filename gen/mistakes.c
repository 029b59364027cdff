#include "mistakes.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void mistakes_model(const struct cli *c, const char *word)
{
	size_t n = strlen(word);

	if (n > 5 && !strcmp(word + n - 5, ".gguf") && !access(word, F_OK))
		cli_usage(c, "%s is a model: name it with -m", word);
}

void mistakes_command(const struct cli *c)
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
	for (int i = 0; i < c->argc; i++)
		mistakes_model(c, c->argv[i]);
}

void mistakes_run(const struct cli *c)
{
	if (c->argc > 1 && !strcmp(c->argv[0], "run") && strpbrk(c->argv[1], ".:0123456789")
	    && !strpbrk(c->argv[1], " \t\n"))
		cli_usage(c, "\"run\" is no question: ask -m MODEL asks");
}

void mistakes_files(const struct cli *c)
{
	struct stat st;

	for (int i = 0; i < c->argc; i++) {
		mistakes_model(c, c->argv[i]);
		if ((c->argc == 1 && !strpbrk(c->argv[i], "./")) || stat(c->argv[i], &st) || !S_ISREG(st.st_mode))
			continue;
		cli_usage(c, "%s is a file: -f %s makes it the document; %s", c->argv[i], c->argv[i],
			c->argc == 1 ? "with -p it is the question" : "in a question, quote all of it");
	}
}
