/* chat_settings: the options of chat, and what they ask for. */
#ifndef CHAT_SETTINGS_H
#define CHAT_SETTINGS_H

#include <time.h>

#include "lib/base/cli.h"
#include "lib/chat/answer/rules.h"
#include "lib/chat/chat_setup.h"
#include "chat_parse.h"

struct chat_settings {
	struct chat_setup setup;
	struct tm now;
	int dated;              /* `now` is given */
	int no_prompt, open, text, lines, print, verbose;
	const char *messages;   /* a file, or NULL */
	int parse, grammar;
	enum chat_parse what;
	struct rules_wish wish;         /* of the grammar */
	struct bytes schema;
	struct bytes left_out;  /* what the grammar leaves out; filled by rules_write() */
};

extern const struct opt chat_settings_opts[];
extern const struct cli_rule chat_settings_rules[];

/* Reads the options, and the schema, into *set, which starts as zeros; ends the program if they are wrong. The caller
 * frees schema and left_out. */
void chat_settings_read(struct chat_settings *set, struct cli *c);

#endif
