/* The keys of embeddings of n-grams. */
#include "ngrams.h"

#include "fwd/state/segment.h"
#include "keys.h"

/* Reads the multipliers of the hash and the rows of each head. */
static int read_heads(struct model *m, struct why *w)
{
	struct ngrams *g = &m->ngrams;
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "per_layer_token_embd.weight");
	size_t heads = (g->longest - 1) * g->heads;

	if (!t)
		return why(w, "tensor per_layer_token_embd.weight: missing");
	if (heads * g->n != m->n_embd)
		return why(w, "%s: %zu heads of %zu elements do not make up the %zu of a row",
			key_name(m, "ple.heads_per_ngram").s, heads, g->n, m->n_embd);
	g->rows = (size_t)t->dim[1];
	if (key_integers(m, "ple.layer_multipliers", g->longest, 0, INT64_MAX, g->multiplier, w) < 0
	    || key_integers(m, "ple.head_offsets", heads, 0, (int64_t)g->rows - 1, g->first, w) < 0
	    || key_integers(m, "ple.head_vocab_sizes", heads, 1, (int64_t)g->rows, g->count, w) < 0)
		return -1;
	for (size_t i = 0; i < heads; i++)
		if (g->count[i] > g->rows - g->first[i])
			return why(w, "%s: rows of head %zu end past the table's %zu",
				key_name(m, "ple.head_offsets").s, i, g->rows);
	return 0;
}

int ngrams_read(struct model *m, struct why *w)
{
	struct ngrams *g = &m->ngrams;
	struct key_name key = key_name(m, "ple.layers");
	const struct gguf_value *v = gguf_find(m->gguf, key.s);
	uint64_t layer;

	if (!v)
		return 0;
	if (v->n > 1)
		return why(w, "%s: %llu layers: not supported", key.s, (unsigned long long)v->n);
	if (key_integers(m, "ple.layers", 1, 0, (int64_t)m->n_layer - 1, &layer, w) < 0
	    || key_required(m, "ple.ngram_size", 2, NGRAM_MAX, &g->longest, w) < 0
	    || key_required(m, "ple.heads_per_ngram", 1, NGRAM_HEADS_MAX / (g->longest - 1), &g->heads, w) < 0
	    || key_required(m, "ple.conv_kernel", 1, STATE_CHUNK / g->longest, &g->taps, w) < 0
	    || key_required(m, "ple.eos_token_id", 0, INT32_MAX, &g->end, w) < 0
	    || key_required(m, "embedding_length_per_layer_input", 1, m->n_embd, &g->n, w) < 0)
		return -1;
	g->layer = (size_t)layer;
	return read_heads(m, w);
}
