/* Which of the options that were given exclude each other, or require another. */
#include <stdio.h>
#include <string.h>

#include "cli_rows.h"
#include "size.h"

enum { NAMES_ROOM = 256 };

/* A word of a rule: an option; `value` is NULL, or what its value is or, before a "=", begins with. */
struct word {
	const struct opt *o;
	const char *value;
	size_t n;               /* bytes of value */
};

/* The next word of a list; *at moves past it. 0: none left. */
static int next_word(const struct cli *c, const char **at, struct word *word)
{
	size_t n = strcspn(*at += strspn(*at, " "), " "), name = strcspn(*at, " =");

	if (!n)
		return 0;
	*word = (struct word){ .o = cli_rows_find(c, 0, *at, name) };
	if (!word->o)
		cli_die(c, "a rule names --%.*s, which is not an option", (int)name, *at);
	if (name < n) {
		word->value = *at + name + 1;
		word->n = n - name - 1;
	}
	*at += n;
	return 1;
}

static int is_one(const struct word *word, const struct cli_given *given)
{
	const char *value = given->value;

	return given->o == word->o && (!word->n
		|| (!strncmp(value, word->value, word->n) && (!value[word->n] || value[word->n] == '=')));
}

/* How often it is given. */
static size_t times(const struct cli *c, const struct word *word)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_given; i++)
		n += (size_t)is_one(word, &c->given[i]);
	return n;
}

static struct cli_spelling spell_word(const struct word *word)
{
	struct cli_spelling sp = cli_row_spell(word->o);
	size_t n = strlen(sp.s);

	if (word->n)
		snprintf(sp.s + n, sizeof sp.s - n, " %.*s", (int)word->n, word->value);
	return sp;
}

/* The first option of a list, besides `word`, that is given; "" if none is. names: the whole list. */
static struct cli_spelling find_given(const struct cli *c, const char *list, const struct word *word,
	char names[NAMES_ROOM])
{
	struct cli_spelling first = { "" };
	struct word other;
	size_t n = 0;

	while (next_word(c, &list, &other)) {
		if (!*first.s && other.o != word->o && times(c, &other))
			first = spell_word(&other);
		n += (size_t)snprintf(names + n, NAMES_ROOM - n, "%s%s", n ? " or " : "", spell_word(&other).s);
		n = size_min(n, NAMES_ROOM - 1);
	}
	return first;
}

static void check_rule(const struct cli *c, const struct cli_rule *rule)
{
	const char *at = rule->one_of ? rule->one_of : rule->options;
	const char *others = rule->requires ? rule->requires : rule->excludes ? rule->excludes : rule->one_of;
	const char *colon = rule->reason ? ": " : "", *reason = rule->reason ? rule->reason : "";
	struct word word;
	char names[NAMES_ROOM];

	while (next_word(c, &at, &word)) {
		struct cli_spelling other = find_given(c, others, &word, names);
		size_t n = times(c, &word);

		if (n > 1 && rule->one_of && word.o->arg)
			cli_usage(c, "%s: only once", spell_word(&word).s);
		if (c->line && rule->requires && !*other.s)
			other = find_given(c->line, others, &word, names);
		if (n && rule->requires && !*other.s)
			cli_usage(c, "%s requires %s%s%s", spell_word(&word).s, names, colon, reason);
		if (n && !rule->requires && *other.s)
			cli_usage(c, "%s and %s exclude each other%s%s", spell_word(&word).s, other.s, colon, reason);
	}
}

void cli_check_rules(const struct cli *c)
{
	for (const struct cli_rule *rule = c->rules; rule && (rule->options || rule->one_of); rule++)
		check_rule(c, rule);
}
