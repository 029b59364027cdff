/* release: the end of a sequence of loop->calls that continues a named segment. The segment must first have all that
 * was drawn, and be free for other processes: fwd evaluates the last id, ends the sequence, and passes on a marker, an
 * `end ` frame of an unused number, which comes back when all that is done. Only then is the caller told of the end. */
#ifndef RELEASE_H
#define RELEASE_H

#include "live.h"

/* The generation of s has ended for this reason; text[n]: that of a refusal. After a refusal or an error the segment is
 * cut back to what it had before, if fwd still has the sequence. Returns -1 with a reason on failure. */
int release_begin(struct loop *l, struct live *s, uint32_t reason, const char *text, size_t n, struct why *w);

/* The prompt of s, which has been cancelled, is evaluated, or fwd has ended s. */
int release_end(struct loop *l, struct live *s, struct why *w);

/* An `end ` frame of s came, which is over: if it says that fwd has failed, so has the sequence. */
int release_note(struct live *s, uint32_t reason, const char *text, size_t n, struct why *w);

/* An `end ` frame of a sequence that does not exist came: it may be a marker. */
int release_marked(struct loop *l, uint32_t number, struct why *w);

#endif
