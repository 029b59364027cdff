/* options: the command line of gen. Mistakes end the program by cli_usage(). */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "lib/base/cli.h"
#include "gen.h"

extern const struct opt options_table[];

/* Reads the command line: options of the stages are put into their arguments. q->model is NULL where none is named. */
void options(struct request *q, struct cli *c);

/* Once the model is known: the command of each stage that is used. argv0: how gen was called. */
void commands(struct request *q, const struct cli *c, const char *argv0);

#endif
