/* The options of a command line, in any order, and operands between them. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli_rows.h"
#include "grow.h"
#include "llama_options.h"
#include "out.h"

#define VERSION "1.0.0"

/* As cli.h describes. */
static _Noreturn void list_options(const struct cli *c)
{
	struct cli_walk walk = { 0 };
	const struct opt *o;

	while ((o = cli_rows_next(c, &walk))) {
		if (cli_row_is_heading(o))
			continue;
		if (cli_row_has_letter(o))
			out_print("-%c", o->letter);
		out_print("\t%s%s\t", o->name ? "--" : "", o->name ? o->name : "");
		if (o->arg && *o->arg == '[')
			out_bytes(o->arg + 1, strcspn(o->arg + 1, "]"));
		else
			out_text(o->arg ? o->arg : "");
		out_char('\t');
		out_bytes(o->help, strcspn(o->help, "\n"));
		out_char('\n');
	}
	out_text("\t--help\t\tprint the options\n\t--version\t\tprint the version\n");
	exit(cli_end(c));
}

/* The option of the name s[n], or of that name in llama.cpp. */
static const struct opt *find_name(const struct cli *c, const char *s, size_t n)
{
	const struct opt *o = cli_rows_find(c, 0, s, n);
	const char *name = o ? NULL : llama_options_name(s, n);

	return name ? cli_rows_find(c, 0, name, strlen(name)) : o;
}

/* Whether the option, which is the word before c->at, has no value there. */
static int is_bare(const struct cli *c, const struct opt *o)
{
	return *o->arg == '[' && (c->at >= c->argc || cli_row_choice(o, c->argv[c->at]) < 0);
}

/* Obeys an option that every program has, and exits; or returns if word[n] is none. */
static void obey_common(struct cli *c, const char *word, size_t n)
{
	static const char *const names[] = { "help", "version", "list-options" };
	size_t i = 0;

	while (i < 3 && (strlen(names[i]) != n || memcmp(word, names[i], n)))
		i++;
	if (i == 3)
		return;
	if (word[n])
		cli_usage(c, "--%s takes no argument", names[i]);
	if (i == 0)
		cli_help(c, 0);
	if (i == 2)
		list_options(c);
	out_print("%s (lmpipe) %s\n", c->program, VERSION);
	exit(cli_end(c));
}

static const struct opt *long_option(struct cli *c, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t n = equals ? (size_t)(equals - word) : strlen(word);
	const struct opt *o = find_name(c, word, n);

	if (!o) {
		obey_common(c, word, n);
		cli_refuse_foreign(c, c->argv[c->at - 1]);
		cli_unknown(c, word, n);
	}
	if (!o->arg && equals)
		cli_refuse_value(c, o, equals + 1);
	c->value = NULL;
	if (!o->arg || (!equals && is_bare(c, o)))
		return o;
	if (!equals && c->at >= c->argc)
		cli_usage(c, "%s needs an argument: %s", cli_row_spell(o).s, o->arg);
	c->value = equals ? equals + 1 : c->argv[c->at++];
	return o;
}

/* One letter of the word at c->at; c->in says which. */
static const struct opt *short_option(struct cli *c)
{
	const char *letter = c->argv[c->at] + c->in;
	const struct opt *o = cli_rows_find(c, *letter, NULL, 0);

	if (!o && *letter == 'h' && !letter[1])
		cli_help(c, 1);
	if (!o) {
		cli_refuse_foreign(c, (char[3]){ '-', *letter });
		cli_usage(c, "unknown option -%c (try --help)", *letter);
	}
	c->value = NULL;
	c->in++;
	if (o->arg && letter[1])
		c->value = letter + 1;
	else if (o->arg && c->at + 1 < c->argc)
		c->value = c->argv[++c->at];
	else if (o->arg)
		cli_usage(c, "%s needs an argument: %s", cli_row_spell(o).s, o->arg);
	if (o->arg || !letter[1]) {
		c->at++;
		c->in = 0;
	}
	return o;
}

/* Whether s is how llama.cpp spells the value of a switch. */
static int is_switch(const char *s)
{
	static const char *const words[] = { "on", "off", "auto", "1", "0", "-1", "true", "false", "enabled",
		"disabled" };
	size_t i = 0;

	while (i < sizeof words / sizeof *words && strcmp(s, words[i]))
		i++;
	return i < sizeof words / sizeof *words;
}

/* Skips an option of llama.cpp that changes nothing here, and its value. Returns 0 if the word is none. */
static int skip_harmless(struct cli *c, const char *word)
{
	size_t n = strcspn(word, "=");
	enum llama_harmless kind = llama_options_harmless(word, n);
	const char *next = c->at + 1 < c->argc ? c->argv[c->at + 1] : "";
	size_t used = strlen(c->ignored);

	if (kind == LLAMA_NOT_HARMLESS || (word[1] == '-' && find_name(c, word + 2, n - 2)))
		return 0;
	snprintf(c->ignored + used, sizeof c->ignored - used, " %.*s", (int)n, word);
	c->at += 1 + (!word[n] && ((kind == LLAMA_VALUE && *next)
		|| (kind == LLAMA_SWITCH && is_switch(next))));
	return 1;
}

/* An option of llama.cpp that sets a key of the model file: --override KEY=VALUE. NULL if the word is none. */
static const struct opt *override_option(struct cli *c, const char *word)
{
	size_t n = strcspn(word, "="), room;
	const char *key = llama_options_key(word, n), *value = word[n] ? word + n + 1 : c->argv[c->at + 1];
	const struct opt *o = key ? find_name(c, "override", 8) : NULL;
	char *pair;

	if (!o || (!word[n] && c->at + 1 >= c->argc))
		return NULL;
	room = strlen(key) + strlen(value) + 2;
	if (!(pair = malloc(room)))
		cli_die(c, "out of memory");
	snprintf(pair, room, "%s=%s", key, value);
	c->value = pair;
	c->at += word[n] ? 1 : 2;
	return o;
}

/* The next option, or NULL after the last. */
static const struct opt *next_option(struct cli *c)
{
	const struct opt *o;
	char *word;

	if (!c->at)
		c->at = 1;
	if (c->in)
		return short_option(c);
	while (c->at < c->argc) {
		word = c->argv[c->at];
		if (word[0] == '-' && skip_harmless(c, word))
			continue;
		if (word[0] == '-' && (o = override_option(c, word)))
			return o;
		if (word[0] == '-' && word[1] && word[1] != '-' && llama_options_name(word, strlen(word))
		    && find_name(c, word, strlen(word))) {
			c->at++;
			return long_option(c, word);
		}
		if (word[0] == '-' && word[1] && word[1] != '-') {
			if (word[2] || !cli_rows_find(c, word[1], NULL, 0))
				cli_refuse_foreign(c, word);
			c->in = 1;
			return short_option(c);
		}
		c->at++;
		if (word[0] != '-' || !word[1])
			c->argv[++c->kept] = word;
		else if (word[2])
			return long_option(c, word + 2);
		else
			while (c->at < c->argc)
				c->argv[++c->kept] = c->argv[c->at++];
	}
	/* argv[1..kept] are operands. argc is 0 only if the program was started without even its name */
	if (c->argc > 0)
		c->argv++;
	c->argc = c->kept;
	return NULL;
}

const struct opt *cli_next(struct cli *c)
{
	const struct opt *o = next_option(c);

	if (!o) {
		cli_check_rules(c);
		if (*c->ignored)
			cli_warn(c, "ignored:%s", c->ignored);
		return NULL;
	}
	if (c->n_given == c->room && grow(&c->given, &c->room, sizeof *c->given, 16))
		cli_die(c, "out of memory");
	c->given[c->n_given++] = (struct cli_given){ o, c->value };
	return o;
}
