/* child: embed as a child process. Its whole input, lines of JSON, is written first; then it prints a line for each. */
#ifndef CHILD_H
#define CHILD_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/lines.h"
#include "lib/base/why.h"
#include "lib/process/stages.h"

struct child {
	struct stage stage;             /* its command, by the caller */

	/* private */
	struct bytes input;
	struct lines output;
	struct arena arena;             /* of the last line */
	int early;                      /* the output ended before a line that was asked for */
};

/* Adds a line of input: an object with these members, strings: key[i] is value[i][length[i]]. */
int child_add(struct child *c, size_t n, const char *const key[], const char *const value[],
	const size_t length[], struct why *w);

/* Starts it with what was added. Then child_next() returns the next line that it prints, which is valid until the
 * following call; NULL with a reason. child_end(), in any case, waits for the end of the process and frees
 * everything but the command; if a line was missing, the reason becomes that of the process. */
int child_start(struct child *c, struct why *w);
const struct json *child_next(struct child *c, struct why *w);
void child_end(struct child *c, struct why *w);

#endif
