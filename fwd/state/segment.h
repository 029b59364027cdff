/* segment: the state of one sequence: its ids, and their K and V in extents of KV_EXTENT positions (kv_type.h), which
 * are added as it grows. Layers with a window keep only recent K and V (recent.h). Layers with recurrent state keep it
 * for some positions (recurrent.h). A named segment is in a file, usually in shared memory (object.h), and outlives the
 * process; one without a name is in the memory of the process. Data are written before the length that makes them
 * valid, so a kill at any moment leaves a valid state. Only one process at a time can have a segment open, and only
 * once: closing the second would free the lock of the first (segment_is_named()).
 *
 * A named segment has a header, then the extents. The header has the shape, a table of what is in an extent, the
 * context and the length, the identity of the model (digest.h), and its name and path. All numbers are little-endian.
 *
 * Positions, lengths and contexts are counted in tokens. Functions that take a struct why return 0, or -1 with a
 * reason. Pointers into a segment belong to it. They are valid until it is closed or, without a name, until memory that
 * it shares with a fork is copied (fork.h). See also ids.h, fork.h, saved.h, and named.h for segments that are not
 * open. */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "lib/base/why.h"
#include "fwd/kernels/kv_type.h"
#include "lora_use.h"
#include "mark.h"
#include "object.h"
#include "shape.h"

enum {
	SEGMENT_CTX_MAX = 1 << 26,
	SEGMENT_BATCH = 2048,   /* maximum rows of a batch if layers have windows */
	STATE_CHUNK = 32,       /* positions of a chunk of recurrent layers; a chunk starts at each multiple */
	STATE_SNAPSHOTS = 22,   /* at most: 1 + log2(SEGMENT_CTX_MAX / STATE_CHUNK) */
	/* marks: of the ring's two halves, the current state, the reach of windows, the snapshots */
	MARK_HALF = 0, MARK_CURRENT = 2, MARK_REACH, MARK_SNAPSHOT, STATE_MARKS = MARK_SNAPSHOT + STATE_SNAPSHOTS
};

struct segment {
	struct segment_shape shape;
	size_t n_ctx;           /* maximum number of positions */
	size_t length;          /* number of valid positions: their ids, K and V and states */
	size_t next;            /* = length; less if rows from `next` on must be evaluated again first */
	unsigned char **extent; /* [n_extents] of shape_extent_bytes(); the table may move when the segment grows */
	unsigned char **recent; /* the same for layers with a window: extents share room in turn (recent.h) */
	struct lora_use lora[LORA_MAX];         /* set by the caller; all zeros: no adapters */
	/* private from here on */
	size_t n_extents;       /* allocated extents */
	size_t room;            /* that the tables have space for */
	const char *name;       /* borrowed; NULL: in memory of the process */
	struct object object;
	struct segment_header *header;
	size_t mapped;          /* bytes of the mapping */
	struct mark *mark;      /* [STATE_MARKS] */
	int shares;             /* some of its memory may be shared with forks (shared.h) */
	size_t reach;           /* see recent.h */
	struct recurrent {
		unsigned char *ring, *current, *snapshot[STATE_SNAPSHOTS];
		size_t n_snapshots;
	} recurrent;
};

/* Opens the segment of this name, or makes it, and takes its lock. A lock held by a live process is the error "in use";
 * the system drops that of a dead one. The header must fit the shape. n_ctx is the maximum number of positions; that
 * the segment already has more is an error. A segment that a killed maker left unfinished is made again, with mode
 * 0600. name NULL: memory of the process. name must outlive *s. After success, call segment_close(). */
int segment_open(struct segment *s, const char *name, const struct segment_shape *shape, size_t n_ctx, struct why *w);

/* Records that the segment was used. If it is a file, whose name has a slash, also waits until it is written to
 * disk. */
int segment_sync(const struct segment *s, struct why *w);

/* Frees the lock and the memory that the process holds. A struct of zeros counts as closed. A named segment that this
 * opening made, and that has no valid position yet, is removed. */
void segment_close(struct segment *s);

/* Whether it is the segment of this name, or of another name of the same file. */
int segment_is_named(const struct segment *s, const char *name);

/* Makes room for this many positions, at most n_ctx, in whole extents. Valid data does not change, even on failure. */
int segment_reserve(struct segment *s, size_t positions, struct why *w);

/* Sets the length, to at most what it was or what has been written, and `next`. Other processes see it at once. */
void segment_set_length(struct segment *s, size_t length);

/* Zeroes the invalid data in the extents up to the length: positions that were cut off, and unknown states. The recent
 * rows of recurrent layers remain. */
void segment_scrub(struct segment *s);

/* Call around a batch of n positions from pos = next on, for which there is room. begin: before any of it is written.
 * commit: after all of it is written; next becomes pos + n and, if it was less, so does the length (a release store).
 * To give up a batch after begin, call segment_set_length(s, s->length). */
void segment_begin(struct segment *s, size_t pos, size_t n);
void segment_commit(struct segment *s, size_t pos, size_t n);

/* K and V of KV head h, from 0, of a layer whose K and V are `offset` bytes into the data of an extent (segment_head())
 * or into the data of layers with a window (segment_recent_head()). */
struct kv_head segment_head(const struct segment *s, size_t offset, size_t h);
struct kv_head segment_recent_head(const struct segment *s, size_t offset, size_t h);

/* What layers keep of group `group` of `ratio` positions, where ratio divides KV_EXTENT: n floats, `offset` bytes into
 * the data of an extent. They are valid if all positions of the group are. */
float *segment_group(const struct segment *s, size_t offset, size_t ratio, size_t n, size_t group);

/* *data = all data of an allocated extent after its ids. Returns its size in bytes. */
size_t segment_data(const struct segment *s, size_t extent, unsigned char **data);

/* ---- recurrent layers, in a batch from pos to end ----
 *
 * A layer's state at position p is the one before row p is evaluated. The batch writes the states in (pos, end] that
 * segment_keeps() selects, all at multiples of STATE_CHUNK. It can read the state at the start of the chunk of pos
 * (unless the layer updates its state row by row), the rows of that chunk and, once they are written, those of the
 * batch. */

/* What a layer keeps of the row at pos: `bytes` bytes, `offset` bytes into what all layers keep of it. Only rows of the
 * last two chunks written are stored. */
void *segment_row(const struct segment *s, size_t offset, size_t bytes, size_t pos);

/* The state at p, a multiple of STATE_CHUNK, from float `offset` on. NULL for p = 0, where the state is zero. */
float *segment_state(const struct segment *s, size_t p, size_t offset);

/* Whether a batch that ends at `end` keeps the state at p > 0. */
int segment_keeps(size_t p, size_t end);

/* The current state, of a layer that updates it row by row: before the batch it is the state at pos; the batch must
 * turn it into the state at end. */
float *segment_current(const struct segment *s, size_t offset);

/* Two numbers of a named segment, 0 if unknown: they identify the model file and its weights. */
enum segment_mark { SEGMENT_FILE, SEGMENT_DIGEST, SEGMENT_MARKS };

/* For named segments only. */
uint64_t segment_mark(const struct segment *s, enum segment_mark which);
void segment_set_mark(struct segment *s, enum segment_mark which, uint64_t value);

/* The model that made a named segment, for users to read: general.name and the absolute path, truncated or empty if
 * they do not fit. The file at this path is the same model only if SEGMENT_FILE matches. */
struct segment_origin {
	char name[120], path[1024];
};

struct segment_origin segment_origin(const struct segment *s);

/* Also records that the segment was used. */
void segment_set_origin(struct segment *s, const struct segment_origin *o);

/* ---- for fwd/state alone ---- */

/* Makes room in the tables for n extents. Tables of a named segment have room for the whole context from the start. */
int segment_widen(struct segment *s, size_t n, struct why *w);

/* *at = all bytes that belong to an extent of a named segment, allocated or not: the states before it, its ids, its
 * data. Returns their number. */
size_t segment_span(const struct segment *s, size_t extent, unsigned char **at);

/* Adds extent number `extent`, the next one. The object of a named segment must have grown by it. */
void segment_take_up(struct segment *s, size_t extent);

#endif
