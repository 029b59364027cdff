/* The words of an `opts` frame, by the tables of the command line. What would end the program ends the words. */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "cli_rows.h"
#include "grow.h"

static void take_word(struct cli *c, const char *word, cli_take *take, void *context)
{
	size_t n = strcspn(word, "=");
	const struct opt *o;

	if (strncmp(word, "--", 2) || n == 2)
		cli_usage(c, "\"%s\" is not --OPTION or --OPTION=VALUE", word);
	if (!(o = cli_rows_find(c, 0, word + 2, n - 2)))
		return;
	if (!o->arg && word[n])
		cli_usage(c, "--%s takes no argument", o->name);
	if (o->arg && !word[n])
		cli_usage(c, "--%s needs its argument in the same word: --%s=%s", o->name, o->name, o->arg);
	if (c->n_given == c->room && grow(&c->given, &c->room, sizeof *c->given, 16))
		cli_die(c, "out of memory");
	c->value = o->arg ? word + n + 1 : NULL;
	c->given[c->n_given++] = (struct cli_given){ o, c->value };
	take(c, o, context);
}

static int take_words(struct cli *c, const char *words, size_t n, cli_take *take, void *context)
{
	jmp_buf back;

	c->refused = &back;
	if (setjmp(back))
		return -1;
	for (const char *word = words; word < words + n; word += strlen(word) + 1)
		take_word(c, word, take, context);
	cli_check_rules(c);
	take(c, NULL, context);
	return 0;
}

int cli_words(const struct cli *c, const char *words, size_t n, cli_take *take, void *context, struct why *w)
{
	struct cli sequence = { .program = c->program, .opts = c->opts, .rules = c->rules, .line = c, .refusal = w };
	int status;

	memcpy(sequence.more, c->more, sizeof sequence.more);
	status = take_words(&sequence, words, n, take, context);
	free(sequence.given);
	return status;
}

void cli_whole(const struct cli *c, const struct opt *o)
{
	if (c->line)
		cli_usage(c, "--%s: cannot differ between sequences", o->name);
}
