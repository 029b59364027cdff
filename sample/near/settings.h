/* settings: the options of near, and what they ask for. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

#include "lib/base/cli.h"
#include "lib/process/stages.h"

struct settings {
	const char *vectors, *texts;    /* files; texts: or NULL */
	size_t most, dimensions;        /* dimensions 0: the file says */
	size_t threads;
	int cosine, as_json;
	const char *query;              /* the text of the only query, or NULL: they are on standard input */
	const char *reranker;           /* a model, or NULL */
	size_t candidates;              /* the nearest that it ranks */
	struct stage embed, rank;       /* the commands that embed the query and rank the candidates */
};

extern const struct opt settings_opts[];
extern const struct cli_rule settings_rules[];

/* Reads the options and checks that they go together; ends the program if not. Call after cli_start(), when c->argv[0]
 * is still the program's path. */
void settings_read(struct settings *set, struct cli *c);

#endif
