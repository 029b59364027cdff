/* options: the command line of gen. Mistakes end the program by cli_usage(). */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "lib/base/cli.h"
#include "gen.h"
#include "place.h"

extern const struct opt options_table[];

/* q's stages have their names already; those options that are theirs are put into their arguments. q->model is NULL where none is named. */
void options(struct request *q, struct cli *c);

/* Once the model is known: the command of each stage: its program, its options, the model; or the shell with the user's own. */
void commands(struct request *q, const struct cli *c, const struct place *place);

#endif
