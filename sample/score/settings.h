/* settings: the options of score, and what they ask for. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/cli.h"
#include "lib/chat/chat_setup.h"
#include "lib/process/stages.h"

struct settings {
	const char *model, *against, *choices;  /* or NULL */
	int ids, table, lines, as_json;
	int chat;                       /* contexts are rendered, as setup says */
	struct chat_setup setup;
	uint32_t chunk;                 /* 0: none */
	size_t worst;
	struct stage fwd;               /* its command for --choices, without the model */
};

extern const struct opt settings_opts[];
extern const struct cli_rule settings_rules[];

/* Reads them and checks that they go together; ends the program if not. Before that c->argv[0] is the program. */
void settings_read(struct settings *set, struct cli *c);

#endif
