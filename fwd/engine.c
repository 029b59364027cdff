/* Opens threads, plan and state, in this order because each needs the one before. */
#include "engine.h"

#include <string.h>

#include "fwd/builder/builder.h"
#include "fwd/state/named.h"
#include "fwd/model/diffusion.h"
#include "fwd/model/embedder.h"
#include "fwd/model/encoder.h"
#include "fwd/model/family.h"
#include "fwd/model/layers.h"
#include "lib/base/size.h"
#include "adapt.h"

enum { CTX_DEFAULT = 4096, CTX_TEXT = 8192 };   /* CTX_TEXT: of embedders, which keep no texts */

/* The context: as given, or else that of the existing segment, or else the default. */
static size_t context(const struct engine_setup *s, const struct model *m)
{
	struct segment_info info;
	struct why w;

	if (s->n_ctx || s->trained_ctx)
		return s->n_ctx ? s->n_ctx : m->n_ctx_train;
	if (s->kv && segment_inspect(s->kv, &info, &w) == 0)
		return info.n_ctx;
	return size_min(m->n_ctx_train, s->embeds ? CTX_TEXT : CTX_DEFAULT);
}

int engine_embeds(struct model *m)
{
	return m->family->headless || embedder_of(m)->whole || embedder_of(m)->pooling;
}

/* Whether the model can make what is asked for. */
static int check_embeds(struct model *m, const struct plan_setup *setup, struct why *w)
{
	if (!setup->embeds && (m->family->headless || embedder_of(m)->whole))
		return why(w, "an embedding model, which generates no text (fwd --pool)");
	if (setup->embeds && encoder_of(m)->n_layer)
		return why(w, "embeddings of a model with an encoder and a decoder are not supported");
	if (setup->embeds && diffusion_of(m)->on)
		return why(w, "embeddings of a diffusion model are not supported");
	if (setup->embeds && setup->pooling == POOLING_RANK && !embedder_of(m)->labels)
		return why(w, "pooling \"rank\": the model has no rank head (cls.output.weight)");
	return 0;
}

_Static_assert((int)DIM_MAX <= (int)KV_DIM_MOST, "the kernels have room for a head");

/* Values that are a part of keys in codes must be whole rotated blocks: they are rotated back on their own. */
static int check_rotation(const struct model *m, enum kv_type type, struct why *w)
{
	for (size_t il = 0; il < m->n_layer && kv_coded(type); il++) {
		const struct layer *l = m->layer + il;

		if (l->v_in_k && l->dim_v % kv_rotated(l->dim_k))
			return why(w, "keys of %zu elements, %zu of them values, are not supported in %s", l->dim_k,
				l->dim_v, kv_type_name[type]);
	}
	return 0;
}

static int open_all(struct engine *e, const struct engine_setup *s, struct why *w)
{
	struct model *m = e->model;
	enum kv_type type = s->kv_type >= 0 ? (enum kv_type)s->kv_type
		: m->quantised && !s->embeds ? KV_F16 : KV_F32;
	size_t n_ctx = context(s, m);
	/* a text of an encoder, of a diffusion model or for an embedding is one batch */
	struct plan_setup setup = { .kernels = s->kernels,
		.batch = s->embeds ? size_max(n_ctx, s->batch)
			: encoder_of(m)->n_layer || diffusion_of(m)->on ? n_ctx : s->batch,
		.embeds = s->embeds, .pooling = s->pooling < 0 ? embedder_of(m)->pooling : (enum pooling)s->pooling,
		.lens = s->lens, .first = s->first, .last = s->end ? s->end : m->n_layer };
	struct lora_use use[LORA_MAX];
	struct segment_shape shape;

	if (n_ctx > m->n_ctx_max)
		return why(w, "%s: a context of %zu, but %s %zu positions", m->gguf->path, n_ctx, m->sparse
			? "sparse attention is supported only up to its" : "the model has a table of", m->n_ctx_max);
	if (check_embeds(m, &setup, w) < 0 || check_rotation(m, type, w) < 0)
		return why_in(w, m->gguf->path);
	e->pool = setup.pool = pool_open(s->threads, w);
	e->plan = e->pool ? build_plan(m, &setup, w) : NULL;
	if (!e->plan)
		return -1;
	shape = plan_shape(e->plan, n_ctx, type);
	e->choices = shape.choices;
	adapt_default(m, use);
	shape.choices = adapt_choices(m, use, e->choices);
	e->weights = (struct weights){ m->gguf, setup.last - setup.first < m->n_layer ? m->used : NULL, m->n_vocab };
	if (segment_open(&e->segment, s->kv, &shape, n_ctx, w) < 0 || digest_check(&e->segment, &e->weights, w) < 0)
		return -1;
	memcpy(e->segment.lora, use, sizeof use);
	adapt_find(m, &e->segment, e->segment.length);
	return plan_bind(e->plan, n_ctx, w);
}

int engine_open(struct engine *e, struct model *m, const struct engine_setup *s, struct why *w)
{
	*e = (struct engine){ .model = m };
	if (open_all(e, s, w) == 0)
		return 0;
	engine_close(e);
	return -1;
}

void engine_close(struct engine *e)
{
	plan_close(e->plan);
	segment_close(&e->segment);
	pool_close(e->pool);
}
