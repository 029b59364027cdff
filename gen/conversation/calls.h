/* calls: runs the program of --tool-command for each call of an answer. The program's argument is the name of the tool,
 * its standard input the arguments as JSON, and its standard output the result. Calls come from a model, which may take
 * them from any text that it was given, so no shell sees them, only tools that were declared are run, and the user is
 * asked before each call unless --yes was given. A failure is a result, too, which the model reads. */
#ifndef CALLS_H
#define CALLS_H

#include "conversation.h"

enum { CALLS_ROUNDS = 16 };     /* answers of a turn that may have calls */

/* How many calls the last message has. */
size_t calls_count(const struct conversation *v);

/* Adds the results of all calls in the last message. 0, or -1 with a reason. */
int calls_run(struct conversation *v, struct why *w);

#endif
