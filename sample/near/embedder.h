/* embedder: embed as a child process: from a file of JSON lines, which are written first, to one line for each. */
#ifndef EMBEDDER_H
#define EMBEDDER_H

#include <stddef.h>

#include "lib/base/arena.h"
#include "lib/base/bytes.h"
#include "lib/base/json.h"
#include "lib/base/lines.h"
#include "lib/base/why.h"
#include "lib/process/stages.h"

struct embedder {
	struct stage stage;             /* its command, by the caller */

	/* private */
	struct bytes input;
	struct lines output;
	struct arena arena;             /* of the last line */
	int early;                      /* the output has ended before a line that was asked for */
};

/* Adds a line of input: an object with these members, strings: key[i] is value[i][length[i]]. */
int embedder_add(struct embedder *e, size_t n, const char *const key[], const char *const value[],
	const size_t length[], struct why *w);

/* Starts it with what was added. Then embedder_next() returns the next line that it prints, which is valid until the
 * following call; NULL with a reason. embedder_end(), in any case, waits for the end of the process and frees
 * everything but the command; if a line was missing, the reason becomes that of the process. */
int embedder_start(struct embedder *e, struct why *w);
const struct json *embedder_next(struct embedder *e, struct why *w);
void embedder_end(struct embedder *e, struct why *w);

#endif
