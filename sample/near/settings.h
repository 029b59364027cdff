/* settings: the options of near, and what they ask for. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

#include "lib/base/cli.h"

struct settings {
	const char *vectors, *texts;    /* files; texts: or NULL */
	size_t most, dimensions;        /* dimensions 0: the file says */
	size_t threads;
	int cosine, as_json;
};

extern const struct opt settings_opts[];

/* Reads them and checks that they go together; ends the program if not. */
void settings_read(struct settings *set, struct cli *c);

#endif
