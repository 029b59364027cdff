/* segment: the state of one sequence: its ids, and their K and V in extents of KV_EXTENT positions (kv_type.h), which
 * are added as it grows; of layers with a window only those of recent positions (recent.h); for layers with recurrent
 * state also that state at some positions (recurrent.h). A named segment lies in a file, usually in shared memory
 * (object.h), and outlives the process; one without a name lies in the memory of the process. Whoever evaluates writes
 * the data before the length that makes it count, so that a kill at any moment leaves a valid state. One process at a
 * time has a segment open.
 *
 * A named segment is a container: a header, then the extents. The header holds the shape, a table of what an extent
 * holds, the context and the length, to which model it belongs (digest.h), and the name and path of that. All numbers
 * are little-endian.
 *
 * Positions, lengths and contexts are counted in tokens. Functions that take a struct why return 0, or -1 with a
 * reason. Pointers into a segment belong to it, and are valid until it is closed or, without a name, a fork's memory is
 * copied (fork.h). Beside this: ids.h, fork.h, saved.h, and named.h for segments that are not open. */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lib/base/why.h"
#include "fwd/kernels/kv_type.h"
#include "mark.h"
#include "object.h"
#include "shape.h"

enum {
	SEGMENT_CTX_MAX = 1 << 26,
	SEGMENT_BATCH = 2048,   /* rows of a batch, at most, where layers have windows */
	STATE_CHUNK = 32,       /* positions of a chunk: recurrent layers start one at each multiple */
	STATE_SNAPSHOTS = 22,   /* at most: 1 + log2(SEGMENT_CTX_MAX / STATE_CHUNK) */
	STATE_MARKS = 4 + STATE_SNAPSHOTS       /* of the ring's halves, the current state, windows, the snapshots */
};

struct segment {
	struct segment_shape shape;
	size_t n_ctx;           /* positions, at most */
	size_t length;          /* positions that count: their ids, K and V and states are valid */
	size_t next;            /* = length; less where rows from next on have to be evaluated again first */
	unsigned char **extent; /* [n_extents] of shape_extent_bytes(); the table may move when the segment grows */
	unsigned char **recent; /* the same for layers with a window: extents that are recent enough take turns */
	/* private from here */
	size_t n_extents;       /* those that are there */
	size_t room;            /* of the tables */
	const char *name;       /* borrowed; NULL: in memory of this process */
	struct object object;
	struct segment_header *header;
	size_t mapped;          /* bytes */
	struct mark *mark;      /* [STATE_MARKS] */
	int shares;             /* memory of it may be that of others, too (shared.h) */
	size_t reach;           /* see recent.h */
	struct recurrent {
		unsigned char *ring, *current, *snapshot[STATE_SNAPSHOTS];
		size_t n_snapshots;
	} recurrent;
};

/* Makes or opens the segment of this name, which must outlive *s; takes its lock (a live owner: "in use"; a dead one's
 * lock is free by itself) and checks its header against the shape. It may hold n_ctx positions at most, which is an
 * error if it has more already. name NULL: memory that is gone with the process. What a killed maker left unfinished is
 * made anew, with mode 0600. segment_close() is due if it succeeds. */
int segment_open(struct segment *s, const char *name, const struct segment_shape *shape, size_t n_ctx, struct why *w);

/* Notes that the segment was used. Writes a segment in a file, whose name has a slash, to disk, and waits for that;
 * returns 0 at once for any other. */
int segment_sync(const struct segment *s, struct why *w);

/* Frees what the process holds of it, and its lock; a struct of zeros is closed. A named segment that this opening made
 * and in which nothing counts yet is removed. */
void segment_close(struct segment *s);

/* Makes room for this many positions, at most n_ctx, by whole extents. What counts does not change, even if it
 * fails. */
int segment_reserve(struct segment *s, size_t positions, struct why *w);

/* Sets the length, at most what it was or what has been written, and next. Others see it at once. */
void segment_set_length(struct segment *s, size_t length);

/* Zeroes the invalid data in the extents up to the length: positions that were cut off, and unknown states. Recent rows
 * of recurrent layers stay. */
void segment_scrub(struct segment *s);

/* A batch of n positions from pos = next on, for which there is room: begin, before any of it is written; commit, when
 * all of it is: next = pos + n, and that is the length if it was less (a release store). A batch that is begun but not
 * finished ends with segment_set_length(s, s->length). */
void segment_begin(struct segment *s, size_t pos, size_t n);
void segment_commit(struct segment *s, size_t pos, size_t n);

/* K and V of KV head h, from 0, of a layer whose K and V begin `offset` bytes into the data of an extent; of a layer
 * with a window, `offset` bytes into the data of those. */
struct kv_head segment_head(const struct segment *s, size_t offset, size_t h);
struct kv_head segment_recent_head(const struct segment *s, size_t offset, size_t h);

/* What layers keep of a group of `ratio` positions, which divides KV_EXTENT: n floats, `offset` bytes into the data of
 * an extent. They count if all positions of the group do. */
float *segment_group(const struct segment *s, size_t offset, size_t ratio, size_t n, size_t group);

/* All data of an extent that is there, without its ids. Returns how many bytes. */
size_t segment_data(const struct segment *s, size_t extent, unsigned char **data);

/* ---- recurrent layers, in a batch from pos to end ----
 *
 * A layer's state at position p is that before the row p is evaluated. The batch writes the states in (pos, end] that
 * segment_keeps() names, all at multiples of STATE_CHUNK. The state at the start of the chunk of pos can be read, if
 * the layer is not scanned, and so can rows of that chunk and, once they are written, of the batch. */

/* What a layer keeps of the row at pos: `bytes` bytes, `offset` bytes into what all layers keep of a row. Only the rows
 * of the last two chunks written are there. */
void *segment_row(const struct segment *s, size_t offset, size_t bytes, size_t pos);

/* The state at p, a multiple of STATE_CHUNK, from its float `offset` on. NULL for 0, where it is zero. */
float *segment_state(const struct segment *s, size_t p, size_t offset);

/* Whether a batch that ends at `end` keeps the state at p, which is above 0. */
int segment_keeps(size_t p, size_t end);

/* Of a scanned layer: the state at pos, to be made that at end. */
float *segment_current(const struct segment *s, size_t offset);

/* Two numbers of a named segment, 0 where they are not known: of the model file and of its weights. */
enum segment_mark { SEGMENT_FILE, SEGMENT_DIGEST, SEGMENT_MARKS };

/* Only for segments with a name. */
uint64_t segment_mark(const struct segment *s, enum segment_mark which);
void segment_set_mark(struct segment *s, enum segment_mark which, uint64_t value);

/* The model that made a named segment, for people: general.name and the absolute path, cut or empty where they do not
 * fit. A file of this path is that model only if SEGMENT_FILE says so. */
struct segment_origin {
	char name[120], path[1024];
};

struct segment_origin segment_origin(const struct segment *s);

/* Notes that the segment was used, too. */
void segment_set_origin(struct segment *s, const struct segment_origin *o);

/* ---- for fwd/state alone ---- */

/* Makes room in the tables for n extents. Those of a named segment have it for its context from the start. */
int segment_widen(struct segment *s, size_t n, struct why *w);

/* All bytes that belong to an extent of a named segment, which need not be there yet: the states that lie before it,
 * its ids, its data. Returns how many. */
size_t segment_span(const struct segment *s, size_t extent, unsigned char **at);

/* Adds the next extent, which is number `extent`; the object of the named segment has grown by it. */
void segment_take_up(struct segment *s, size_t extent);

#endif
