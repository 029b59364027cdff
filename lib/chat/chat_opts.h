/* chat_opts: the options of a conversation that chat and gen have alike, and what each does to a chat_setup. */
#ifndef CHAT_OPTS_H
#define CHAT_OPTS_H

#include "chat_setup.h"
#include "lib/base/cli.h"

enum { OPT_SYSTEM = CLI_SHARED + 64, OPT_TOOLS, OPT_SET, OPT_TEMPLATE, OPT_NAME };     /* in the place of a letter */

extern const struct opt chat_opts[];

/* 1 where o is one of these: its value, borrowed, has its place in s; 0 where it is another. -1: more than CHAT_SETS of --set. */
int chat_take(struct chat_setup *s, const struct opt *o, const char *value, struct why *w);

#endif
