/* dump: what each op makes, for comparing with another engine's. A file for each tensor in a new directory, itself a stream (frame.h): one frame of floats
 * for each batch, rows by position: `hidn`, or `logi` for the last op. NNNN is the op's place in the plan; blk.L. is left out outside the layers.
 *	NNNN-blk.L.NAME         the op's result: of a product its parts side by side (q, k, v; gate, up), of attend the heads' outputs
 *	NNNN-blk.L.NAME.in      of a norm: x, the residual stream that it reads, with the branch before it added
 *	NNNN-blk.L.attend.qkv   q, k and v side by side, normed and rotated: what attention sees
 * From the last attention on there are only the rows whose logits are asked for. */
#ifndef DUMP_H
#define DUMP_H

#include <stddef.h>

#include "lib/base/why.h"

struct plan;

struct dump {
	const char *dir;        /* borrowed */
	int failed;             /* 0; or -1 and why: then nothing more is written */
	struct why why;
};

/* Makes the directory. One that is there already is an error: its files would be mixed with these. */
int dump_open(struct dump *d, const char *dir, struct why *w);

/* Op i of the plan has just run on rows [first, first + n). */
void dump_op(struct dump *d, const struct plan *p, size_t i, size_t first, size_t n);

#endif
