/* claim: reserves a segment's name while the segment is being made under another name. The name must be free or, with
 * replace, not in use. */
#ifndef CLAIM_H
#define CLAIM_H

#include "segment.h"

/* Reserves the name, which must outlive *o. On failure (-1) nothing is reserved. */
int claim_open(struct object *o, const char *name, int replace, struct why *w);

/* Renames segment s to the claimed name, and removes the segment that had it. */
int claim_rename(const struct segment *s, const struct object *claimed, struct why *w);

/* Frees the name unless it was given away. Call once for each successful claim_open(). */
void claim_close(struct object *claimed);

#endif
