/* settings: the options of embed, and what they ask for. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

#include "lib/base/cli.h"
#include "lib/gguf/gguf.h"
#include "output.h"
#include "pipeline.h"

struct settings {
	const char *model;              /* NULL: a filter of frames */
	struct gguf *file;              /* the model's, which requests ask about */
	size_t dimensions;              /* 0: all */
	int normalize, normalizes;      /* as scale_row() has it, if it was given */
	enum output_kind kind;
	struct pipeline pipeline;       /* its stages and items, with a model */
};

extern const struct opt settings_opts[];
extern const struct cli_rule settings_rules[];

/* Reads the options and checks that they go together; ends the program if not. Call after cli_start(), when c->argv[0]
 * is still the program's path. */
void settings_read(struct settings *set, struct cli *c);

#endif
