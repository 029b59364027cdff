/* claim: the name of a segment that is being made under another one. There must be no segment of that name or, with
 * replace, none that is in use. */
#ifndef CLAIM_H
#define CLAIM_H

#include "segment.h"

/* Reserves the name, which must outlive *o. -1: nothing is reserved. */
int claim_open(struct object *o, const char *name, int replace, struct why *w);

/* Gives the name to the segment, and removes the segment that had it. */
int claim_rename(const struct segment *s, const struct object *claimed, struct why *w);

/* Due after claim_open() has succeeded: frees the name unless it was given away. */
void claim_close(struct object *claimed);

#endif
