/* The options of kv. Which of them a command takes is in its row (commands.c). */
#include "settings.h"

#include <string.h>

enum { JSON = 1, SPECIAL, FORCE, OLDER, KEEP };

const struct opt settings_opts[] = {
	{ JSON, "json", NULL, "list: lines of JSON" },
	{ 'm', "model", "MODEL", "show, save: the model that made the segment (default: its path at that time);\n"
		"find: only segments that it has made" },
	{ SPECIAL, "special", NULL, "show: print control tokens, too" },
	{ FORCE, "force", NULL, "load: replace an existing segment" },
	{ OLDER, "older", "AGE", "rm: only segments not used for this long (90s, 30m, 12h, 7d, 2w);\n"
		"without names: among all segments" },
	{ KEEP, "keep", "SIZE", "rm: only as many segments, the least recently used first, that the others have at\n"
		"most SIZE (100M, 8G); without names: of all segments" },
	{ 0 }
};

long long settings_number(const char *text, size_t n, long long most)
{
	long long value = 0;

	for (size_t i = 0; i < n; i++) {
		if (text[i] < '0' || text[i] > '9' || value > most)
			return -1;
		value = value * 10 + text[i] - '0';
	}
	return n && value <= most ? value : -1;
}

static long long age(const struct cli *c)
{
	static const struct {
		char unit;
		int seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 7 * 86400 } };
	size_t n = strlen(c->value);
	long long count = n ? settings_number(c->value, n - 1, 1000000) : -1;

	for (size_t i = 0; count > 0 && i < sizeof units / sizeof *units; i++)
		if (c->value[n - 1] == units[i].unit)
			return count * units[i].seconds;
	cli_usage(c, "--older: \"%s\" is not an age such as 90s, 30m, 12h, 7d or 2w", c->value);
}

/* Bytes, as 1000, 100K, 100M, 8G or 1T. */
static unsigned long long size(const struct cli *c)
{
	static const char units[] = "KMGT";
	size_t n = strlen(c->value);
	const char *unit = n ? strchr(units, c->value[n - 1]) : NULL;
	long long count = settings_number(c->value, n - (unit != NULL), 1000000000);

	if (count < 0)
		cli_usage(c, "--keep: \"%s\" is not a size such as 100M or 8G", c->value);
	return (unsigned long long)count << (unit ? 10 * (unit - units + 1) : 0);
}

void settings_read(struct settings *set, struct cli *c)
{
	const struct opt *o;

	while ((o = cli_next(c))) {
		switch (o->letter) {
		case JSON: set->json = 1; break;
		case 'm': set->model = c->value; break;
		case SPECIAL: set->special = 1; break;
		case FORCE: set->force = 1; break;
		case OLDER: set->older = age(c); break;
		case KEEP: set->keep = size(c); set->keeps = 1; break;
		}
		set->given |= 1u << (o - settings_opts);
	}
}
