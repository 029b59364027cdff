/* arguments: the command of each stage of a request, from the options that were given. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include "lib/base/cli.h"
#include "gen.h"

#define ARGUMENTS_JOBS "16"     /* of feed with --lines, unless -j is given */

enum { OPTION_STAGES = 4 };     /* stages that one option goes to, at most */

struct meaning {
	const char *option;
	unsigned states;                        /* facts that follow from it */
	enum stage_number to[OPTION_STAGES];    /* stages that get it, */
	unsigned when[OPTION_STAGES];           /* each if all of these facts hold */
	const char *as;                         /* by this name; NULL: by its own */
};

struct given {                  /* an option of the command line, and its value or NULL */
	const struct opt *o;
	const struct meaning *meaning;
	const char *value;
};

/* Fills in q->stage[] and q->fwd for given[n], once q has all else. argv0: of gen, beside which programs are looked
 * for. Ends the program if memory is short or --hosts cannot be divided. */
void arguments(struct request *q, const struct cli *c, const struct given *given, size_t n, const char *argv0);

#endif
