/* named: named segments that are not open: inspected, copied, removed, by name. The functions return 0, or -1 with a
 * reason that begins with the name. */
#ifndef STATE_NAMED_H
#define STATE_NAMED_H

#include "segment.h"

enum { SEGMENT_FIRST = 64 };

struct segment_info {
	struct segment_shape shape;
	struct segment_origin origin;
	size_t length, n_ctx;   /* positions */
	size_t bytes;           /* of the object */
	uint64_t file, digest;  /* as segment_mark() has them; 0: none yet */
	time_t used;            /* when it was last opened for use, grew, was synced or saved */
	long owner;             /* process that has it open, 0 if none */
	int32_t first[SEGMENT_FIRST];   /* ids, as many as there are */
};

/* What the header says. Takes no lock: another process may change the segment meanwhile. An unfinished one is an
 * error. */
int segment_inspect(const char *name, struct segment_info *info, struct why *w);

/* Makes a segment `to`, which must not exist, of what counts in `from`, which must not be in use. */
int segment_fork_named(const char *from, const char *to, struct why *w);

/* Removes it, unless it is in use. Of files only segments. */
int segment_remove(const char *name, struct why *w);

#endif
