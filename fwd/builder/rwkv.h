/* rwkv: what the layers of RWKV 6 and 7 share. */
#ifndef RWKV_H
#define RWKV_H

#include "build.h"

/* The tensors of y = second · f(first · x) + bias. bias NULL: none. */
struct rwkv_low_rank {
	const char *first, *second, *bias;
	size_t rank;                    /* rows of `first` */
	enum row_function f;
};

/* Appends the ops of l, from packed rows x to y[n_embd]. low[rank] holds the result of `first`. */
void rwkv_low_rank(struct builder *b, struct packed *x, const struct rwkv_low_rank *l, struct buffer low,
	struct buffer y);

/* The layer norm of each head's result; weights [n_embd]. NORM_NONE if the file has none. */
struct norm rwkv_norm(struct builder *b);

/* A transformer's layer with time mixing in place of attention (RWKV team 2025). */
void rwkv_transformer_layer(struct builder *b, struct packed *(*time_mix)(struct builder *b));

#endif
