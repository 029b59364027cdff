/* settings: the options of fwd. Usage errors end the program by cli_usage(). */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>

#include "lib/base/cli.h"
#include "chain.h"
#include "engine.h"

enum { SETTINGS_OVERRIDES = 64, SETTINGS_CONTROLS = 32 };

struct settings {
	struct engine_setup engine;
	int all, score, profile, verbose, list, ignores_unknown, truncate, own_kv;
	const char *dump, *progress;    /* a directory; a file; or NULL */
	const char *compare;            /* a directory, to be compared with the operand; or NULL */
	const char *override[SETTINGS_OVERRIDES + 1];        /* each "KEY=VALUE"; NULL after the last */
	struct scaled_file lora[LORA_MAX];
	size_t n_lora;
	struct scaled_file control[SETTINGS_CONTROLS];
	struct range {
		size_t first, end;
	} control_layers;
	size_t n_control;
	struct chain_setup chain;       /* chunk 0: no --chain */
};

extern const struct opt settings_opts[];       /* in addition to fwd_opts */
extern const struct cli_rule settings_rules[];

/* The value of --kv-type, as in struct engine_setup. */
int settings_kv_type(const struct cli *c, const struct opt *o);

/* The kernels of this name. A usage error if this machine cannot run them. */
const struct kernels *settings_kernels(const struct cli *c, const char *name);

/* Reads and checks all options. Then c->argv[0] is the model, or the dump to compare with. */
void settings_read(struct settings *set, struct cli *c);

#endif
