/* batches: runs the ops of a recurrent layer over the rows of a sequence, in batches of any size, for tests. Checks
 * that the results are close to those of the recurrence, position by position, and have the same bits in any batches,
 * on any backend, with any number of threads, and after the state was cut back. */
#ifndef BATCHES_H
#define BATCHES_H

#include <stddef.h>

#include "fwd/mixers/convolution.h"
#include "fwd/mixers/linear.h"
#include "fwd/mixers/mamba.h"
#include "fwd/mixers/rwkv.h"

enum { BATCHES_ROWS = 150, BATCHES_OPS = 3 };

struct batches {
	const char *name;
	const struct op_kind *kinds[BATCHES_OPS];       /* NULL: unused */
	const void *case_of;                            /* bind's own */
	/* Binds the ops for rows that start here. */
	void *(*bind)(const struct batches *b, float *rows);
	const float *input;             /* [BATCHES_ROWS][stride] */
	size_t stride;
	size_t out, n_out;              /* columns of the result */
	size_t scratch;                 /* bytes per thread */
	size_t row_bytes, state_floats; /* of a segment: see segment_shape */
	int keeps_current;
};

/* want: [BATCHES_ROWS][n_out]. Reports each check to `checked`. */
void batches_test(const struct batches *b, const double *want,
	void checked(int ok, const char *name, const char *what));

/* n zeroed bytes; ends the program if memory is short. */
void *batches_memory(size_t n);

/* A number from -1 to 1, a function of i. */
float batches_draw(size_t i);

#endif
