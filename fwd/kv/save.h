/* save: writes a segment so that another machine can load it. */
#ifndef KV_SAVE_H
#define KV_SAVE_H

#include "fwd/state/segment.h"
#include "lib/base/why.h"

/* Writes the open segment to descriptor 1, after computing a digest of the weights if it has none: the other machine
 * has another model file. model: the file to compute it from; NULL: the one that made the segment. Returns 0, or -1
 * with a reason. */
int save_write(struct segment *s, const char *model, struct why *w);

#endif
