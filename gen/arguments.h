/* arguments: the command of each stage of a request, from the options that were given. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "lib/base/cli.h"
#include "gen.h"

#define ARGUMENTS_JOBS "16"     /* of feed with --lines, unless -j is given */

enum { OPTION_STAGES = 4 };     /* most stages that one option goes to */

struct meaning {
	const char *option;
	unsigned states;                        /* facts that the option implies */
	enum stage_number to[OPTION_STAGES];    /* the stages that get it, */
	unsigned when[OPTION_STAGES];           /* each only if all these facts hold, */
	const char *as;                         /* under this name; NULL: its own */
};

struct given {                  /* an option of the command line, and its value or NULL */
	const struct opt *o;
	const struct meaning *meaning;
	const char *value;
};

/* Fills in q->stage[] and q->fwd from given[n]. All else of q must be set. argv0: that of gen; programs are looked for
 * beside it. Ends the program if memory is short or --hosts cannot be divided. */
void arguments(struct request *q, const struct cli *c, const struct given *given, size_t n, const char *argv0);

#endif
