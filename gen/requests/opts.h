/* opts: the options of a request as words of a command line, for the stages. */
#ifndef REQUEST_OPTS_H
#define REQUEST_OPTS_H

#include "lib/stream/frame.h"
#include "job.h"

enum { OPTS_MAX = FRAME_OPTS_MAX - 256 };       /* bytes of j->opts; those of each choice, such as its seed, follow */

/* Appends to j->opts what its members say about the draws. Their values are checked by the stages. Returns -1 with a
 * reason if one has a type that is not its own. */
int opts_take(struct job *j, struct why *w);

/* The member that a stage's reason for refusing an option is about, or NULL. */
const char *opts_member(const char *reason);

/* Appends an option and its value[n]. -1: it contains a NUL or is too long, or there is no memory. */
int opts_add(struct bytes *opts, const char *option, const char *value, size_t n, struct why *w);

#endif
