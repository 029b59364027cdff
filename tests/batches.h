/* batches: ops of a recurrent layer over the rows of a sequence, in batches of any size, for tests: what they leave is
 * near what the recurrence gives position by position, and has the same bits in any batches, on any backend, with any
 * number of threads, and after a cut. */
#ifndef BATCHES_H
#define BATCHES_H

#include <stddef.h>

#include "fwd/plan/kinds.h"

enum { BATCHES_ROWS = 150, BATCHES_OPS = 3 };

struct batches {
	const char *name;
	const struct op_kind *kinds[BATCHES_OPS];       /* NULL: no more */
	const void *case_of;                            /* bind's own */
	/* What the ops are bound to, for rows that begin here. */
	void *(*bind)(const struct batches *b, float *rows);
	const float *input;             /* [BATCHES_ROWS][stride] */
	size_t stride;
	size_t out, n_out;              /* columns of what the ops leave */
	size_t scratch;                 /* bytes of a thread */
	size_t row_bytes, state_floats; /* of a segment: see segment_shape */
	int scanned;
};

/* want: [BATCHES_ROWS][n_out]. Each check is told to `checked`. */
void batches_test(const struct batches *b, const double *want,
	void checked(int ok, const char *name, const char *what));

/* n bytes of zeros, or the end of the program. */
void *batches_memory(size_t n);

/* From -1 to 1, the same for each i. */
float batches_draw(size_t i);

#endif
