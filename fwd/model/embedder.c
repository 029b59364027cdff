/* Hyperparameters of embedders. */
#include "embedder.h"

#include <stdio.h>

#include "encoder.h"
#include "family.h"
#include "keys.h"
#include "layers.h"

enum { LABELS_MAX = 1 << 16, TYPES_MAX = 1 << 16 };

struct embedder *embedder_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct embedder));
}

/* Whether all that mixes positions is attention that can see later positions, too. */
static int attends_only(struct model *m)
{
	if (encoder_of(m)->n_layer)
		return 0;
	for (const struct layer *l = m->layer; l < m->layer + m->n_layer; l++)
		if (!l->attends || l->mixer || l->kv || l->sparse || l->latent || layer_window(l))
			return 0;
	return 1;
}

static int read_causal(struct model *m, struct why *w)
{
	struct embedder *e = embedder_of(m);
	int causal = 1;

	if (gguf_bool(m->gguf, key_name(m, "attention.causal").s, &causal, w) < 0)
		return -1;
	e->whole = m->family->sees_all || (!causal && !m->family->diffusion);
	if (!e->whole || m->family->sees_all || attends_only(m))
		return 0;
	why(w, "%s: false: not supported for architecture %s", key_name(m, "attention.causal").s, m->arch);
	return why_tell(m->faults, w);
}

/* The number of labels decides the shapes of the rank head. */
static int read_labels(struct model *m, struct why *w)
{
	struct key_name key = key_name(m, "classifier.output_labels");
	const struct gguf_value *v;
	int found;

	if (!m->family->ranks || (!model_has(m, "cls.output.weight") && !model_has(m, "cls.weight")))
		return 0;
	found = gguf_array(m->gguf, key.s, GGUF_STRING, &v, w);
	if (found > 0 && !v->n)
		found = why(w, "%s: empty", key.s);
	if (found < 0)
		return why_tell(m->faults, w);
	embedder_of(m)->labels = found && v->n <= LABELS_MAX ? (size_t)v->n : 1;
	return !found || v->n <= LABELS_MAX ? 0 : why(w, "%s: more than %d labels", key.s, LABELS_MAX);
}

/* The keys of the products after pooling say again what the shapes of their matrices say. */
static int check_dense(struct model *m, struct why *w)
{
	static const char *const sides[] = { "in", "out" };
	char tensor[48], name[48];

	for (size_t i = 2; i < 2 + m->family->n_dense; i++)
		for (size_t d = 0; d < 2; d++) {
			const struct gguf_tensor *t;
			size_t n;

			snprintf(tensor, sizeof tensor, "dense_%zu.weight", i);
			if (!(t = gguf_tensor(m->gguf, tensor)))
				continue;
			snprintf(name, sizeof name, "dense_%zu_feat_%s", i, sides[d]);
			n = (size_t)t->dim[d];
			if (key_size(m, name, 1, FF_MAX, &n, w) < 0)
				return -1;
			if (n != t->dim[d])
				return why(w, "%s: %zu, but tensor %s has %llu", key_name(m, name).s, n, tensor,
					(unsigned long long)t->dim[d]);
		}
	return 0;
}

int embedder_read(struct model *m, struct why *w)
{
	size_t pooling = POOLING_NONE;

	if (read_causal(m, w) < 0 || key_size(m, "pooling_type", 0, POOLINGS - 1, &pooling, w) < 0)
		return -1;
	embedder_of(m)->pooling = (enum pooling)pooling;
	return read_labels(m, w) < 0 ? -1 : check_dense(m, w);
}

int embedder_read_types(struct model *m, struct why *w)
{
	static const char key[] = "tokenizer.ggml.token_type_count";
	const struct gguf_tensor *t = gguf_tensor(m->gguf, "token_types.weight");
	int64_t types = t ? (int64_t)t->dim[1] : 0;

	if (gguf_integer(m->gguf, key, 1, TYPES_MAX, &types, w) < 0)
		return -1;
	embedder_of(m)->types = t ? (size_t)types : 0;
	return 0;
}
