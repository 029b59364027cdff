/* cli_rows: the rows of a program's tables of options, for the parts of cli. */
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

/* The next row, or NULL. */
const struct opt *cli_rows_next(const struct cli *c, struct cli_walk *walk);

/* The option of this letter, or of the name s[n] if letter is 0; or NULL. */
const struct opt *cli_rows_find(const struct cli *c, int letter, const char *s, size_t n);

/* Prints --help, or -h if brief, and exits (cli_help.c). */
_Noreturn void cli_help(const struct cli *c, int brief);

/* Checks the rules of a program whose options have all been read (cli_rules.c). */
void cli_check_rules(const struct cli *c);

#endif
