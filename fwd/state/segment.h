/* segment: the KV state of one sequence, in a POSIX shared-memory object with a name (or, without one, in memory of this process). A header, the
 * ids, then K and V for every layer and KV head, allocated for the whole context when it is made. A step writes its data before the length that
 * makes it count, so that a kill at any moment leaves a valid state. One writer at a time. */
#ifndef SEGMENT_H
#define SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/why.h"
#include "fwd/kernels/kv_type.h"

struct segment_shape {          /* what must agree between a segment and the fwd that opens it */
	uint64_t model;         /* fingerprint */
	uint64_t arithmetic;    /* version of the arithmetic: a change of any bit of K or V is a new number */
	uint32_t n_ctx;         /* positions; there is room for whole tiles of KV_TILE */
	uint32_t n_layer, n_head_kv, dim_k, dim_v;
	uint32_t kv_type;       /* enum kv_type */
};

struct segment {
	struct segment_shape shape;
	size_t length;          /* positions that count */
	int32_t *ids;           /* [n_ctx], in the mapping */
	unsigned char *kv;      /* the K of layer 0, head 0 */
	/* private from here */
	struct segment_header *header;
	size_t bytes;
	size_t k_bytes, v_bytes;        /* of one head */
	int fd;                 /* -1: memory of this process */
	int made;               /* there was none of this name before */
	char object[256];       /* the name as the system knows it */
};

enum { SEGMENT_NAME_MAX = 200, SEGMENT_CTX_MAX = 1 << 26 };

/* 0, or the reason why a name will not do: it has 1 to 200 letters, digits, '.', '_' and '-', and does not begin with a dot. */
int segment_check_name(const char *name, struct why *w);

/* Makes or opens the segment of this name, takes its lock (a live owner: "in use"; a dead one's is free by itself), checks every field of its
 * header against the shape. any_ctx: an existing segment's own n_ctx is taken in place of the shape's. name NULL: memory that is gone with the
 * process and is touched only where it is used. What a killed maker left unfinished is made anew. Mode 0600. */
int segment_open(struct segment *s, const char *name, const struct segment_shape *shape, int any_ctx, struct why *w);

/* Gives it back. One that was made by this opening and in which nothing counts yet is not kept. */
void segment_close(struct segment *s);

/* Cuts back to length, which becomes visible at once; or moves it forward after the data is written (a release store). */
void segment_set_length(struct segment *s, size_t length);

/* K and V of one layer and KV head, 64-byte aligned; see struct kv_head. */
void *segment_k(const struct segment *s, size_t layer, size_t head);
void *segment_v(const struct segment *s, size_t layer, size_t head);
struct kv_head segment_head(const struct segment *s, size_t layer, size_t head);

/* For the tool kv. */
struct segment_info {
	struct segment_shape shape;
	size_t length, bytes;
	long owner;             /* process that has it open, 0 if none */
};

int segment_inspect(const char *name, struct segment_info *info, struct why *w);       /* takes no lock */
int segment_fork(const char *from, const char *to, struct why *w);      /* a copy under a new name, of what counts */
int segment_remove(const char *name, struct why *w);

/* Calls visit for each segment of this user's, in the order of their names, until it returns non-zero, and returns that. POSIX has no
 * list of shared memory: -1 where the system keeps none that can be read (Linux: /dev/shm). */
int segment_each(int (*visit)(const char *name, void *context), void *context, struct why *w);

#endif
