#include "cli_rows.h"

#include <stdio.h>
#include <string.h>

int cli_row_has_letter(const struct opt *o)
{
	return o->letter > ' ' && o->letter < CLI_SHARED;
}

int cli_row_is_heading(const struct opt *o)
{
	return !o->letter && !o->name;
}

const struct opt *cli_rows_next(const struct cli *c, struct cli_walk *walk)
{
	if (!walk->at)
		walk->at = c->opts;
	while (!walk->at->help) {
		if (walk->table == CLI_TABLES || !c->more[walk->table])
			return NULL;
		walk->at = c->more[walk->table++];
	}
	return walk->at++;
}

int cli_row_is_among(const struct opt *o, const char *names)
{
	size_t n = o->name ? strlen(o->name) : 0;

	for (const char *s = names; s && n && (s = strstr(s, o->name)); s += n)
		if ((s == names || s[-1] == ' ') && (!s[n] || s[n] == ' '))
			return 1;
	return 0;
}

struct cli_spelling cli_row_spell(const struct opt *o)
{
	struct cli_spelling sp;

	if (cli_row_has_letter(o) && o->name)
		snprintf(sp.s, sizeof sp.s, "-%c/--%s", o->letter, o->name);
	else if (o->name)
		snprintf(sp.s, sizeof sp.s, "--%s", o->name);
	else
		snprintf(sp.s, sizeof sp.s, "-%c", o->letter);
	return sp;
}

const struct opt *cli_rows_find(const struct cli *c, int letter, const char *s, size_t n)
{
	struct cli_walk walk = { 0 };
	const struct opt *o;

	while ((o = cli_rows_next(c, &walk)))
		if (letter ? cli_row_has_letter(o) && o->letter == letter
			: o->name && strlen(o->name) == n && !memcmp(o->name, s, n))
			break;
	return o;
}
