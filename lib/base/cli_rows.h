/* cli_rows: the rows of a program's tables of options, for the parts of cli and for programs with commands. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli.h"

/* An iteration over the rows of all tables. Starts as zeros. */
struct cli_walk {
	const struct opt *at;
	size_t table;           /* the next table */
};

/* An option as a user knows it: "-n/--n-predict". */
struct cli_spelling {
	char s[96];
};

int cli_row_has_letter(const struct opt *o);
int cli_row_is_heading(const struct opt *o);
struct cli_spelling cli_row_spell(const struct opt *o);

/* Whether its name is among these, which are separated by spaces; NULL: there are none. */
int cli_row_is_among(const struct opt *o, const char *names);

/* The next row, or NULL. */
const struct opt *cli_rows_next(const struct cli *c, struct cli_walk *walk);

/* The option of this letter, or of the name s[n] if letter is 0; or NULL. */
const struct opt *cli_rows_find(const struct cli *c, int letter, const char *s, size_t n);

/* The index of a word among the choices of an option; -1: it is none. */
int cli_row_choice(const struct opt *o, const char *word);

/* In cli_unknown.c: cli_refuse_foreign() exits if the option, with its dashes and perhaps "=VALUE", has another name
 * now or here, or is one of llama.cpp that does not exist here. cli_unknown() exits in any case, for the name s[n]
 * without dashes. cli_refuse_value() exits because the option has no value. */
void cli_refuse_foreign(const struct cli *c, const char *option);
_Noreturn void cli_unknown(const struct cli *c, const char *s, size_t n);
_Noreturn void cli_refuse_value(const struct cli *c, const struct opt *o, const char *value);

/* Prints --help, or -h if brief, and exits (cli_help.c). */
_Noreturn void cli_help(const struct cli *c, int brief);

/* Checks the rules of a program whose options have all been read (cli_rules.c). */
void cli_check_rules(const struct cli *c);

#endif
