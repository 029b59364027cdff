/* Hyperparameters of an encoder. */
#include "encoder.h"

#include <stdlib.h>

#include "keys.h"
#include "tensors.h"

struct encoder *encoder_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct encoder));
}

int encoder_read(struct model *m, struct why *w)
{
	struct encoder *e = encoder_of(m);
	struct layer first = m->layer[0], *layer;
	int64_t eos;
	int found = gguf_integer(m->gguf, "tokenizer.ggml.eos_token_id", 0, INT32_MAX, &eos, w);

	if (found <= 0)
		return found < 0 ? -1 : why(w, "tokenizer.ggml.eos_token_id: missing");
	e->end = (size_t)eos;
	e->n_layer = m->n_layer;
	if (key_size(m, "decoder_block_count", 1, TENSORS_LAYERS, &m->n_layer, w) < 0
	    || key_required(m, "decoder_start_token_id", 0, INT32_MAX, &e->start, w) < 0
	    || key_required(m, "attention.relative_buckets_count", 4, BUCKETS_MAX, &e->buckets, w) < 0)
		return -1;
	layer = realloc(m->layer, m->n_layer * sizeof *layer);
	if (!layer)
		return why(w, "out of memory");
	m->layer = layer;
	for (size_t il = 0; il < m->n_layer; il++) {
		layer[il] = first;
		layer[il].block = il;
	}
	return 0;
}
