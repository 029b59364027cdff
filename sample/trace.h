/* trace: for each draw, who is left after each sampler: how many, and the likeliest of them with their probabilities, in lines of 80 columns on standard
 * error. What it computes it computes beside the chain: the draws are the same with it and without. */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>

#include "lib/sampler/sampler.h"
#include "lib/vocab/vocab.h"

struct trace;

/* For a vocabulary of n_vocab ids; v: shows their pieces, or NULL. NULL: no memory. */
struct trace *trace_open(int32_t n_vocab, const struct vocab *v);
void trace_close(struct trace *t);

/* A sampler's watch(); the context is the trace. */
void trace_watch(void *t, const struct sampler_view *view);

/* The draw is done: everything about it, in one write. */
void trace_drawn(struct trace *t, uint32_t position, int32_t id);

#endif
