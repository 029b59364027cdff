/* gguf: fingerprints, computed from the raw bytes of the file: a vocabulary has megabytes, and every process of a
 * pipeline computes its fingerprint. */
#include "gguf_priv.h"

#include <string.h>

#include "lib/base/le.h"

/* Arbitrary odd constants with well-spread bits: the fractional parts of sqrt(2), sqrt(3), sqrt(5) and sqrt(7), made
 * odd. */
static const uint64_t odd[4] = { 0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1 };

/* SplitMix64's finaliser: every bit of z reaches every bit of the result. */
static uint64_t finish(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t absorb(uint64_t lane, uint64_t word, uint64_t by)
{
	lane = (lane ^ word) * by;
	return lane << 29 | lane >> 35;
}

uint64_t gguf_hash(const void *data, size_t n, uint64_t seed)
{
	/* Four independent lanes hide the latency of the multiplication. */
	uint64_t a = seed ^ odd[0], b = seed ^ odd[1], c = seed ^ odd[2], d = seed ^ odd[3];
	const unsigned char *p = data, *end = p + n;
	unsigned char last[32] = { 0 };

	while (p < end) {
		if (end - p < 32) {
			memcpy(last, p, (size_t)(end - p));
			p = last;
			end = last + 32;
		}
		a = absorb(a, le64(p), odd[0]);
		b = absorb(b, le64(p + 8), odd[1]);
		c = absorb(c, le64(p + 16), odd[2]);
		d = absorb(d, le64(p + 24), odd[3]);
		p += 32;
	}
	return finish(finish(finish(finish(n + a) + b) + c) + d);
}

static uint64_t hash_value(const struct gguf_value *v, uint64_t h)
{
	uint64_t head[2] = { v->type | (uint64_t)v->of << 32, v->n };

	le_convert(head, sizeof *head, 2);
	h = gguf_hash(v->key.s, v->key.n, h);
	h = gguf_hash(head, sizeof head, h);
	return gguf_hash(v->data, (size_t)(v->end - v->data), h);
}

uint64_t gguf_identity(const struct gguf *g)
{
	uint64_t h = 0;

	for (size_t i = 0; i < g->files->n; i++)
		h = gguf_hash(&g->files->maps[i].identity, sizeof g->files->maps[i].identity, h);
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
		return gguf_hash(data, (size_t)t->bytes, h);
	h = gguf_hash(data + t->bytes / 3, SAMPLE, h);
	return gguf_hash(data + t->bytes / 4 * 3, SAMPLE, h);
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
		h = gguf_hash(t->name.s, t->name.n, h);
		h = gguf_hash(head, sizeof head, h);
		h = hash_samples(t, h);
	}
	return h;
}
