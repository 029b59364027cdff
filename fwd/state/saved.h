/* saved: a named segment as a stream (rle.h), with its valid data and the model it belongs to, so that another machine
 * can continue from it. kv.5 describes the format. */
#ifndef SAVED_H
#define SAVED_H

#include "lib/base/why.h"
#include "segment.h"

/* Writes an open segment, whose digest must be known and which must have tokens. Zeroes invalid data in it first. */
int saved_write(struct segment *s, int fd, struct why *w);

/* Reads a segment, to the end of the stream, and gives it this name. The name must be free or, with replace, not in
 * use; the old segment is replaced only when all of the new one has been read. Until then the new one has the name with
 * OBJECT_PART appended. A failure leaves nothing behind; a kill may leave the part, which the next call removes, and
 * saved_clear(). */
int saved_read(int fd, const char *name, int replace, struct why *w);

/* Removes what a killed saved_read() of this name has left, if anything. */
void saved_clear(const char *name);

#endif
