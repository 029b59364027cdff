/* settings: the options of fwd. Usage errors end the program with cli_usage(). */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

#include "lib/base/cli.h"
#include "chain.h"

struct settings {
	const char *backend, *kv;       /* kv NULL: no name */
	size_t threads, n_ctx, batch;   /* threads and n_ctx 0: not given */
	int kv_type;                    /* enum kv_type; -1: auto */
	int all, profile, verbose;
	const char *dump;               /* a directory, or NULL */
	struct chain chain;             /* chunk 0: no --chain */
};

extern const struct opt settings_opts[];       /* beside fwd_opts */

/* The value of --kv-type, as in struct settings. */
int settings_kv_type(const struct cli *c);

/* Reads and checks all options. Then c->argv[0] is the model. */
void settings_read(struct settings *set, struct cli *c);

#endif
