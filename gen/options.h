/* options: the command line of gen. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "lib/base/cli.h"
#include "gen.h"

extern const struct opt options_table[];

/* Reads the command line: q is what it asks for, with the arguments of each stage that is used. Mistakes end the
 * program by cli_usage(). */
void options(struct request *q, struct cli *c);

#endif
