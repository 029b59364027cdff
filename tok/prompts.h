/* prompts: each line of a file is a separate text and sequence. */
#ifndef PROMPTS_H
#define PROMPTS_H

#include "encode.h"

/* Writes the ids of each line of the file. A line that has none fails alone: the caller is warned, and its sequence
 * ends with an error. */
int prompts_add(struct tok *t, const char *name, struct why *w);

#endif
