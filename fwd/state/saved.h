/* saved: a named segment as a stream (rle.h): its valid data and the model it belongs to, so that another machine can
 * continue from it. kv.5 describes the format. */
#ifndef SAVED_H
#define SAVED_H

#include "lib/base/why.h"
#include "segment.h"

/* Writes an open segment whose digest is known; one without tokens is an error. Zeroes what does not count in it. */
int saved_write(struct segment *s, int fd, struct why *w);

/* Reads one, to the end of the stream, and gives it the name: there must be no such segment or, with replace, none in
 * use, which is replaced once all of the new one was read. Until then it has the name with OBJECT_PART after it. A
 * failure leaves nothing behind; a kill may leave that part, which the next call removes. */
int saved_read(int fd, const char *name, int replace, struct why *w);

#endif
