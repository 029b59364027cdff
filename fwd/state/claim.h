/* claim: the name of a segment that is being made under another one. There must be no segment of that name or, with
 * replace, none that is in use. */
#ifndef CLAIM_H
#define CLAIM_H

#include "segment.h"

/* Reserves the name, which must outlive *o. */
int segment_claim(struct object *o, const char *name, int replace, struct why *w);

/* Gives it to the segment, and removes the old one. */
int segment_rename(const struct segment *s, const struct object *claimed, struct why *w);

/* Ends every claim: frees a name that was not used. */
void segment_release(struct object *claimed);

#endif
