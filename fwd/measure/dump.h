/* dump: what each op makes, for comparing with another engine's. Each tensor has a file in a new directory, which is
 * itself a stream (frame.h): frames of floats, one for each batch and sequence, rows by position: `hidn`, or `logi`
 * for the last op. NNNN is the op's place in the plan; blk.L. is left out outside the layers.
 *  *	NNNN-blk.L.NAME         what the op made: of several products side by side (q, k, v; gate, up)
 *  *	NNNN-blk.L.NAME.in      of a norm: x, the residual stream that it reads, with the branch before it added
 *  *	NNNN-blk.L.prepare      q, k and v side by side after norms and rotation, as attention sees them
 *  *	NNNN-blk.L.attend       the heads' outputs
 * From the last attention on there are only the rows whose logits are asked for. */
#ifndef DUMP_H
#define DUMP_H

#include <stddef.h>

#include "lib/base/why.h"

struct op;
struct plan;

struct dump {
	const char *dir;        /* borrowed */
	int failed;             /* 0; or -1 and why: then nothing more is written */
	struct why why;
};

/* Makes the directory. One that exists is an error: its files would be mixed with these. */
int dump_open(struct dump *d, const char *dir, struct why *w);

/* A plan's after_op(): writes what this op has just made. */
void dump_op(void *dump, const struct plan *p, const struct op *op);

#endif
