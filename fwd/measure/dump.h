/* dump: writes the result of each op, for comparison with another engine. Each tensor has a file in a new directory.
 * The file is a stream (frame.h): frames of floats, one for each batch and sequence, with rows by position; `hidn`, or
 * `logi` for the last op. NNNN is the op's index in the plan; blk.L. is missing outside the layers.
 *  * NNNN-blk.L.NAME         the op's result; several products are side by side (q, k, v; gate, up)
 *  * NNNN-blk.L.NAME.in      of a norm: its input x, the residual stream with the pending branch added
 *  * NNNN-blk.L.prepare      q, k and v side by side, after norms and rotation
 *  * NNNN-blk.L.attend       the heads' results
 * After the last attention there are only rows whose logits are wanted. */
#ifndef DUMP_H
#define DUMP_H

#include <stddef.h>

#include "lib/base/why.h"

struct op;
struct plan;

struct dump {
	const char *dir;        /* borrowed */
	int failed;             /* 0; or -1 with a reason: then nothing more is written */
	struct why why;
};

/* Creates the directory. It must not exist, so that files of different runs are not mixed. */
int dump_open(struct dump *d, const char *dir, struct why *w);

/* For plan->after_op: writes the result of this op. */
void dump_op(void *dump, const struct plan *p, const struct op *op);

#endif
