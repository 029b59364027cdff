/* generate: a request that is no conversation: its prompts go in, their texts come out. */
#ifndef GENERATE_H
#define GENERATE_H

#include "gen/loop/loop.h"
#include "request.h"

/* What is captured besides the loop's own observations: files without a name; 0: none. Starts as zeros. */
struct capture {
	int text;               /* detok's text, for --json */
	int ends;               /* and its `end ` frames, for the number of the best text, or the stop string */
	char path[STAGE_PATH];  /* of ends */
};

/* Starts the stages and runs the loop. Returns 0 if the reader is gone, too; -1 with a reason. */
int generate(struct request *q, struct loop *l, struct capture *capture, struct why *w);

/* Prints what -v and --json ask for, about the text that was printed. The JSON line is printed only if the text is
 * `whole`. Returns the text's result, one of all[q->texts]; NULL with a reason. Call when all stages have ended. */
const struct result *generate_report(struct request *q, const struct loop *l, const struct capture *capture,
	struct result *all, int whole, struct why *w);

#endif
