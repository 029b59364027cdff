/* prefetch: prefetching what decode.c and columns.c read next. They read the weights once, at the speed of memory. */
#ifndef PREFETCH_H
#define PREFETCH_H

#include "lanes.h"

/* Prefetch distances in bytes: far into the second-level cache, because hardware prefetchers stop at page borders,
 * and near into the first. Share of the speed of a plain streaming read, on an Intel core: with the far one alone 0.81
 * to 0.92, with 8192 and 2048 0.90 to 0.95, with these 0.95 to 1.0. */
enum { PREFETCH_FAR = 12288, PREFETCH_NEAR = 4096 };

INLINE void prefetch(const uint8_t *near, const uint8_t *far, size_t bytes)
{
	UNROLL
	for (size_t i = 0; i < bytes; i += 64) {
		__builtin_prefetch(far + i, 0, 2);
		__builtin_prefetch(near + i, 0, 3);
	}
}

/* Bytes of the fewest whole sets of rows that reach PREFETCH_FAR. */
static inline size_t sets_ahead(size_t set)
{
	return (PREFETCH_FAR + set - 1) / set * set;
}

/* Rows of a set are read side by side. */
struct row_set {
	const uint8_t *start;
	size_t rows, row_bytes;
	size_t far;             /* sets_ahead(), or 0 where the rows are in the cache already */
	size_t near;            /* bytes ahead within each row */
};

/* For row i at its byte `at`: prefetches its share of a later set, whose bytes are taken straight along the
 * mapping, in the order that memory is fastest in, and what comes next in the row. */
INLINE void prefetch_side(struct row_set s, size_t i, size_t at, size_t bytes)
{
	prefetch(s.start + i * s.row_bytes + at + s.near, s.start + s.far + s.rows * at + i * bytes, bytes);
}

#endif
