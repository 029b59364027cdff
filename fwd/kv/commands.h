/* commands: what kv can do with segments. */
#ifndef KV_COMMANDS_H
#define KV_COMMANDS_H

#include <stddef.h>

#include "lib/base/why.h"
#include "settings.h"

enum { COMMANDS_ANY = 1 << 30 };        /* for `most`: any number of names */

struct command {
	const char *name;
	size_t least, most;     /* names that it takes */
	int counts;             /* the last of them is a number of tokens */
	int parts;              /* what killed loads have left has a name, too */
	const char *options;    /* those that it takes, separated by spaces; or NULL */
	int binary;             /* 1 + the descriptor that has the bytes of a segment, or ids; 0: none */
	/* Returns 0, or -1 with a reason. */
	int (*run)(char **name, size_t names, const struct settings *set, struct why *w);
};

extern const struct command commands[]; /* until a row without a name */

#endif
