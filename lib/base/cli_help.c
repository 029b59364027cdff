/* --help and -h, in 80 columns. */
#include "cli.h"
#include "cli_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out.h"
#include "size.h"

enum { COLUMNS = 80, LEFT_MOST = 30 };  /* a wider left column stands above its text, not beside it */

/* The left column: "  -n, --n-predict N". */
static struct cli_spelling left_column(const struct opt *o)
{
	const char letter[] = { '-', (char)o->letter, 0 };
	struct cli_spelling sp;

	snprintf(sp.s, sizeof sp.s, "  %2s%s %s%s%s%s", cli_row_has_letter(o) ? letter : "",
		cli_row_has_letter(o) && o->name ? "," : " ", o->name ? "--" : "", o->name ? o->name : "",
		o->arg ? " " : "", o->arg ? o->arg : "");
	return sp;
}

/* The columns of s[n], which is UTF-8. */
static size_t columns(const char *s, size_t n)
{
	size_t wide = 0;

	for (size_t i = 0; i < n; i++)
		wide += ((unsigned char)s[i] & 0xc0) != 0x80;
	return wide;
}

/* Prints the words of a text between this column and the last one; the cursor is in column `at`. */
static void wrap(const char *s, size_t at, size_t from)
{
	size_t n, wide;

	for (s += strspn(s, " \n"); *s; s += n, s += strspn(s, " \n")) {
		n = strcspn(s, " \n");
		wide = columns(s, n);
		if (at > from && at + 1 + wide >= COLUMNS) {
			out_print("\n%*s", (int)from, "");
			at = from;
		} else if (at > from) {
			out_char(' ');
			at++;
		}
		out_bytes(s, n);
		at += wide;
	}
	out_char('\n');
}

static void print_option(const struct opt *o, size_t width)
{
	struct cli_spelling left = left_column(o);
	size_t n = strlen(left.s);

	out_text(left.s);
	if (n > width)
		out_char('\n');
	out_print("%*s", (int)(n > width ? width + 2 : width + 2 - n), "");
	wrap(o->help, width + 2, width + 2);
}

static void print_options(const struct cli *c, int brief)
{
	struct cli_walk first = { 0 }, second = { 0 };
	const struct opt *o, *heading = NULL;
	size_t width = 0;

	while ((o = cli_rows_next(c, &first))) {
		int left_out = cli_row_is_heading(o) || (brief && c->common && !cli_row_is_among(o, c->common));
		size_t n = left_out ? 0 : strlen(left_column(o).s);

		width = n <= LEFT_MOST ? size_max(width, n) : width;
	}
	while ((o = cli_rows_next(c, &second))) {
		if (cli_row_is_heading(o)) {
			heading = brief ? NULL : o;
			continue;
		}
		if (brief && c->common && !cli_row_is_among(o, c->common))
			continue;
		if (heading)
			out_print("\n%s:\n", heading->help);
		heading = NULL;
		print_option(o, width);
	}
}

_Noreturn void cli_help(const struct cli *c, int brief)
{
	char line[256];

	snprintf(line, sizeof line, "%s: %s", c->program, c->purpose);
	wrap(line, 0, 0);
	out_text("usage: ");
	snprintf(line, sizeof line, "%s %s", c->program, c->synopsis);
	wrap(line, 7, 7);
	print_options(c, brief);
	if (brief && c->examples)
		out_print("\nexamples:\n%s", c->examples);
	if (brief)
		out_print("\n%smanual: man %s\n", c->common ? "all options: --help; " : "", c->program);
	exit(cli_end(c));
}
