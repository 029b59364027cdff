/* named: operations on named segments that are not open, by name: inspect, copy, remove. They return 0, or -1 with a
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
	uint64_t file, digest;  /* the values of segment_mark(); 0: not known */
	time_t used;            /* when it was last opened for use, synced or saved, or last grew */
	long owner;             /* process that has it open, or 0 */
	int32_t first[SEGMENT_FIRST];   /* the first ids, as many as there are */
};

/* Reads what the header says. Takes no lock, so another process may change the segment meanwhile. An unfinished segment
 * is an error. */
int segment_inspect(const char *name, struct segment_info *info, struct why *w);

/* Copies the valid data of `from`, which must not be in use, to a new segment `to`, which must not exist. */
int segment_fork_named(const char *from, const char *to, struct why *w);

/* Removes a segment, unless it is in use. Refuses a file that is not a segment. */
int segment_remove(const char *name, struct why *w);

#endif
