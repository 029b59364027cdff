/* mkembedders: what models that make embeddings have besides their layers. */
#include "mkparts.h"

#include <stdio.h>
#include <string.h>

#include "lib/gguf/formats.h"

static void rank_head(struct mkweights *k)
{
	uint32_t n = k->s.n_embd, labels = k->family->labels ? k->family->labels : 1;
	int biased = strchr(k->family->ranks, 'b') != NULL, ends = strchr(k->family->ranks, 'o') != NULL;

	if (strchr(k->family->ranks, 'c')) {
		part_matrix(k, "cls.weight", 'm', n, ends ? n : labels, 1);
		if (biased)
			part_vector(k, "cls.bias", ends ? n : labels, 0, 0.1f);
	}
	if (strchr(k->family->ranks, 'n'))
		part_vector(k, "cls.norm.weight", n, 1, 0.1f);
	if (ends) {
		part_matrix(k, "cls.output.weight", 'm', n, labels, 1);
		if (biased)
			part_vector(k, "cls.output.bias", labels, 0, 0.1f);
	}
}

void mkembedders_whole(struct mkweights *k)
{
	const struct mkfamily *f = k->family;
	uint32_t n = k->s.n_embd, wide = n * 3 / 2;

	if (f->types)
		part_tensor(k, "token_types.weight", FORMAT_F32, (uint64_t[3]){ n, f->types }, 0, 0.5f);
	if (f->normed_embedding)
		part_vector(k, "token_embd_norm.weight", n, 1, 0.1f);
	if (f->normed_embedding && f->norm_bias)
		part_vector(k, "token_embd_norm.bias", n, 0, 0.1f);
	if (f->ranks)
		rank_head(k);
	if (f->projections > 0)
		part_matrix(k, "dense_2.weight", 'm', n, wide, 1);
	if (f->projections == 1)
		part_vector(k, "dense_2.bias", wide, 0, 0.1f);
	if (f->projections > 1)
		part_matrix(k, "dense_3.weight", 'm', wide, n, 1);
}

void mkembedders_values(struct mkweights *k)
{
	const char *arch = k->family->arch ? k->family->arch : k->family->name;
	char name[96];

	if (!k->family->labels)
		return;
	snprintf(name, sizeof name, "%s.classifier.output_labels", arch);
	mkgguf_array(k->m, name, GGUF_STRING, k->family->labels);
	for (uint32_t i = 0; i < k->family->labels; i++)
		mkgguf_add_text(k->m, "label", 5);
}
