/* sampling: the options that /set changes: those of sample, and whether reasoning is shown. */
#ifndef CONVERSATION_SAMPLING_H
#define CONVERSATION_SAMPLING_H

#include "lib/base/cli.h"
#include "commands.h"

/* Option number i, or NULL. All except think are options of sample. */
const struct opt *sampling_option(size_t i);

/* Prints those that sample has, except what gen adds for its own use. */
void sampling_print(const struct conversation *v);

/* The argument of /set: a name and a value; or nothing, to print all. */
enum command_answer sampling_set(struct conversation *v, const char *argument, struct why *w);

#endif
