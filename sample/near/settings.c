/* The options of near. */
#include "settings.h"

#include <string.h>

#include "lib/base/system.h"
#include "vectors.h"

enum { DIMENSIONS = 1, TEXTS, COSINE, JSON };
enum { MOST = 10, MOST_MAX = 1 << 24, THREADS_MAX = 256 };

const struct opt settings_opts[] = {
	{ 'n', "results", "N", "print the N nearest (default: 10)" },
	{ DIMENSIONS, "dimensions", "N", "VECTORS is raw little-endian floats (F32), N for each vector" },
	{ TEXTS, "texts", "FILE", "the texts of the vectors, a line each" },
	{ COSINE, "cosine", NULL, "the score is the cosine (default: the inner product)" },
	{ JSON, "json", NULL, "print a JSON object for each query" },
	{ 't', "threads", "N", "number of threads (default: the cores of this machine)" },
	{ 0 }
};

void settings_read(struct settings *set, struct cli *c)
{
	const struct opt *o;

	*set = (struct settings){ .most = MOST, .threads = system_cores() };
	while ((o = cli_next(c)))
		switch (o->letter) {
		case 'n': set->most = (size_t)cli_integer(c, o, 1, MOST_MAX); break;
		case DIMENSIONS: set->dimensions = (size_t)cli_integer(c, o, 1, VECTORS_COLS_MAX); break;
		case TEXTS: set->texts = c->value; break;
		case COSINE: set->cosine = 1; break;
		case JSON: set->as_json = 1; break;
		case 't': set->threads = (size_t)cli_integer(c, o, 1, THREADS_MAX); break;
		}
	if (c->argc != 1)
		cli_usage(c, "%s file of vectors (try --help)", c->argc ? "more than one" : "no");
	set->vectors = c->argv[0];
	if (!strcmp(set->vectors, "-"))
		cli_usage(c, "the vectors cannot be standard input: the queries are");
}
