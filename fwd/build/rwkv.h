/* rwkv: what the layers of RWKV 6 and 7 share. */
#ifndef RWKV_H
#define RWKV_H

#include "build.h"

/* y = second · f(first · x) + bias. */
struct rwkv_low_rank {
	const char *first, *second, *bias;
	size_t rank;
	enum row_function f;
};

void rwkv_low_rank(struct builder *b, struct packed *x, const struct rwkv_low_rank *l, struct buffer low,
	struct buffer y);

/* The norm of the state's results, if there is one. */
struct norm rwkv_norm(struct builder *b);

#endif
