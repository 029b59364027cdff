/* options: the command line of gen. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "lib/base/cli.h"
#include "gen.h"

extern const struct opt options_table[];

/* Reads the command line into q, including the arguments of each stage that is used. Usage errors end the program by
 * cli_usage(). */
void options(struct request *q, struct cli *c);

#endif
