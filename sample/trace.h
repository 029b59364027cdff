/* trace: prints, for each draw, the candidates after each sampler to standard error: how many there are, and the most
 * likely with their probabilities, in lines of 80 columns. It only observes: the draws are the same with it and
 * without. */
#ifndef TRACE_H
#define TRACE_H

#include <stdint.h>

#include "lib/sampler/sampler.h"
#include "lib/vocab/vocab.h"

struct trace;

/* For a vocabulary of n_vocab ids; v, which may be NULL, gives their pieces. NULL: out of memory. */
struct trace *trace_open(int32_t n_vocab, const struct vocab *v);
void trace_close(struct trace *t);

/* For sampler_params.observe; the context is the trace. */
void trace_observe(void *t, const struct sampler_view *view);

/* After the draw: prints all about it in one write. */
void trace_drawn(struct trace *t, uint32_t position, uint32_t seq, int32_t id);

#endif
