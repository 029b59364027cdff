/* The file is removed as soon as it is open. */
#include "mkopen.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mkgguf.h"
#include "mkvocab.h"
#include "mkweights.h"

/* As mkmodel does. */
static void shape(struct mkshape *s, const char *name, uint32_t layers)
{
	const struct mkfamily *family = mkfamilies_named(name);

	s->arch = name;
	if (layers || family->layers)
		s->n_layer = layers ? layers : family->layers;
	if (family->multi_head) {
		s->n_head_kv = s->n_head;
		s->head_dim = s->n_embd / s->n_head;
	}
}

void mkopen_file(const char *path, const char *family, const char *type, uint32_t layers, uint32_t n_vocab,
	uint32_t n_ctx)
{
	struct mkweights k = { .s = *mkweights_shape("tiny"), .type = type, .rope = "", .seed = 1 };

	shape(&k.s, family, layers);
	k.s.n_vocab = n_vocab;
	k.s.n_ctx = n_ctx;
	k.m = mkgguf_open();
	mkweights_values(&k);
	mkvocab_bpe(k.m, k.s.pre, n_vocab, k.seed, 0);
	mkweights_tensors(&k);
	mkgguf_write(k.m, path, 3, 1);
	mkgguf_close(k.m);
	mkweights_free(&k);
}

struct model *mkopen(const char *family, const char *type, uint32_t layers, uint32_t n_vocab, uint32_t n_ctx)
{
	struct model *m;
	struct why w;

	mkopen_file("mkopen.gguf", family, type, layers, n_vocab, n_ctx);
	m = model_open("mkopen.gguf", NULL, &w);
	unlink("mkopen.gguf");
	if (m)
		return m;
	printf("mkopen: %s\n", w.text);
	exit(1);
}
