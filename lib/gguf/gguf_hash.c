/* gguf: fingerprints, computed from the raw bytes of the file: a vocabulary has megabytes, and every process of a
 * pipeline computes its fingerprint. */
#include "files.h"

#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/le.h"

static uint64_t hash_value(const struct gguf_value *v, uint64_t h)
{
	uint64_t head[2] = { v->type | (uint64_t)v->of << 32, v->n };

	le_convert(head, sizeof *head, 2);
	h = hash_data(v->key.s, v->key.n, h);
	h = hash_data(head, sizeof head, h);
	return hash_data(v->data, (size_t)(v->end - v->data), h);
}

uint64_t gguf_identity(const struct gguf *g)
{
	uint64_t h = 0;

	for (size_t i = 0; i < g->files->n; i++)
		h = hash_data(&g->files->maps[i].identity, sizeof g->files->maps[i].identity, h);
	return h ? h : 1;
}

uint64_t gguf_vocab_fingerprint(const struct gguf *g)
{
	static const char *const keys[] = {
		"tokenizer.ggml.model", "tokenizer.ggml.pre", "tokenizer.ggml.tokens", "tokenizer.ggml.token_type",
		"tokenizer.ggml.scores", "tokenizer.ggml.merges", "tokenizer.ggml.bos_token_id",
		"tokenizer.ggml.eos_token_id"
	};
	const struct gguf_value *v;
	uint64_t h = 1;

	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if ((v = gguf_find(g, keys[i])))
			h = hash_value(v, h);
	return h;
}

static int begins(struct gguf_string s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && !memcmp(s.s, with, n);
}

/* Samples 32 bytes at two offsets away from the ends of a tensor, where padding and rows of zeroes are. */
static uint64_t hash_samples(const struct gguf_tensor *t, uint64_t h)
{
	enum { SAMPLE = 32 };
	const unsigned char *data = t->data;

	if (t->bytes <= 4 * SAMPLE)
		return hash_data(data, (size_t)t->bytes, h);
	h = hash_data(data + t->bytes / 3, SAMPLE, h);
	return hash_data(data + t->bytes / 4 * 3, SAMPLE, h);
}

uint64_t gguf_model_fingerprint(const struct gguf *g)
{
	uint64_t h = 2;

	/* In order of names, so that a model in shards and the same model in one file agree. */
	for (uint64_t i = 0; i < g->n_values; i++) {
		const struct gguf_value *v = (const void *)g->files->by_key[i];

		if (!begins(v->key, "general.") && !begins(v->key, "tokenizer.") && !begins(v->key, "split."))
			h = hash_value(v, h);
	}
	for (uint64_t i = 0; g->files->by_name && i < g->n_tensors; i++) {
		const struct gguf_tensor *t = (const void *)g->files->by_name[i];
		uint64_t head[6] = { t->n_dims, t->dim[0], t->dim[1], t->dim[2], t->dim[3], t->type };

		le_convert(head, sizeof *head, 6);
		h = hash_data(t->name.s, t->name.n, h);
		h = hash_data(head, sizeof head, h);
		h = hash_samples(t, h);
	}
	return h;
}
