/* chat_opts: the options of a conversation that chat and gen share. */
#ifndef CHAT_OPTS_H
#define CHAT_OPTS_H

#include "chat_setup.h"
#include "lib/base/cli.h"

enum { OPT_SYSTEM = CLI_SHARED + 64, OPT_TOOLS, OPT_SET, OPT_TEMPLATE, OPT_NAME };     /* as opt.letter */

extern const struct opt chat_opts[];

/* Stores the value, borrowed, in s if o is one of these options: 1, or 0 if it is not. -1: more than CHAT_SETS times
 * --set. */
int chat_take(struct chat_setup *s, const struct opt *o, const char *value, struct why *w);

#endif
