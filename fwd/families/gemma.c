/* Gemma 1 to 4 (Google 2024, 2025, 2026): scaled embeddings, GELU, norms after the branches from Gemma 2 on, windows
 * and caps. */
#include <math.h>

#include "fwd/builder/per_layer.h"
#include "fwd/model/family.h"
#include "fwd/model/layers.h"
#include "fwd/model/tensors.h"
#include "lib/base/size.h"

static int gemma(struct model *m, struct why *w)
{
	m->embedding_scale = sqrtf((float)m->n_embd);
	return 0;
}

/* The largest model of each generation scales scores by 1 / sqrt(n_embd / n_head) instead of 1 / sqrt(dim_k). */
static void scale_largest(struct model *m, size_t n_layer)
{
	for (size_t il = 0; il < m->n_layer && m->n_layer == n_layer; il++)
		m->layer[il].scale = 1 / sqrtf((float)(m->n_embd / m->layer[il].n_head));
}

static int gemma2(struct model *m, struct why *w)
{
	m->attn_cap = 50;
	m->logit_cap = 30;
	scale_largest(m, 46);
	gemma(m, w);
	if (key_float(m, "attn_logit_softcapping", 0, 1e6, &m->attn_cap, w) < 0
	    || key_float(m, "final_logit_softcapping", 0, 1e6, &m->logit_cap, w) < 0)
		return -1;
	return layers_slide(m, 2, w) < 0 || layers_sliding_base(m, w) < 0 ? -1 : layers_rot_of_first(m, w);
}

/* The layers with a window: their own RoPE base, and no RoPE scaling except the magnitude. */
static int slide(struct model *m, size_t period, struct why *w)
{
	return layers_slide(m, period, w) < 0 || layers_sliding_rope(m, SLIDING_BASE, w) < 0 ? -1 : 0;
}

static int gemma3(struct model *m, struct why *w)
{
	scale_largest(m, 62);
	gemma(m, w);
	if (key_float(m, "final_logit_softcapping", 0, 1e6, &m->logit_cap, w) < 0)
		return -1;
	return slide(m, 6, w) < 0 ? -1 : layers_rot_of_first(m, w);
}

/* EmbeddingGemma (2025): Gemma 3 whose rows see both ways. */
static int gemma_embedding(struct model *m, struct why *w)
{
	gemma(m, w);
	if (slide(m, 6, w) < 0)
		return -1;
	layers_center_windows(m);
	return 0;
}

/* Head sizes of the sliding layers. The last `shared` layers have no K and V: the sliding ones read those of layer own
 * - 2, the full ones those of layer own - 1. */
static int share(struct model *m, size_t shared, struct why *w)
{
	size_t own = m->n_layer - shared;

	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		l->scale = 1;
		l->v_norms_bare = 1;
		if (l->window && (key_size(m, "attention.key_length_swa", 1, DIM_MAX, &l->dim_k, w) < 0
		    || key_size(m, "attention.value_length_swa", 1, DIM_MAX, &l->dim_v, w) < 0))
			return -1;
		if (il < own)
			continue;
		l->kv = &m->layer[own - (l->window ? 2 : 1)];
		if (!l->kv->window != !l->window || l->kv->dim_k != l->dim_k || l->kv->dim_v != l->dim_v
		    || l->kv->n_head_kv != l->n_head_kv)
			return why(w, "%s: %zu: no layer of its kind before layer %zu",
				key_name(m, "attention.shared_kv_layers").s, shared, il);
	}
	return 0;
}

static int gemma4(struct model *m, struct why *w)
{
	size_t shared = 0, n_rot = DIM_MAX;

	m->logit_cap = 30;
	gemma(m, w);
	if (key_float(m, "final_logit_softcapping", 0, 1e6, &m->logit_cap, w) < 0 || slide(m, 6, w) < 0
	    || key_size(m, "attention.shared_kv_layers", 0, m->n_layer > 2 ? m->n_layer - 2 : 0, &shared, w) < 0
	    || key_size(m, "embedding_length_per_layer_input", 0, 1 << 14, &per_layer_of(m)->n, w) < 0
	    || share(m, shared, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].window)
			n_rot = size_min(n_rot, m->layer[il].dim_k);
	m->rope_sliding.n_rot = n_rot;
	return key_size(m, "rope.dimension_count_swa", 2, n_rot, &m->rope_sliding.n_rot, w);
}

/* Gemma 3n (2025). Its sizes are constants here; the keys that files have for some of them agree. */
static int gemma3n(struct model *m, struct why *w)
{
	enum { OWN = 20, SPARSE = 10 };
	float cap = m->logit_cap = 30;
	size_t shared = 0;

	m->n_streams = 4;
	per_layer_of(m)->n = 256;
	gemma(m, w);
	for (size_t il = 0; il < m->n_layer && il < SPARSE; il++)
		m->layer[il].sparsity = 1.6448534f;     /* the 95% quantile of the normal distribution */
	if (key_float(m, "final_logit_softcapping", 0, 1e6, &cap, w) < 0
	    || key_size(m, "attention.shared_kv_layers", 0, TENSORS_LAYERS, &shared, w) < 0
	    || slide(m, 5, w) < 0)
		return -1;
	return layers_rot_of_first(m, w) < 0 ? -1 : share(m, m->n_layer > OWN ? m->n_layer - OWN : 0, w);
}

/* Laurel: x += h + a low-rank branch of h, where h is x normed. Returns h. */
static struct value *laurel(struct builder *b)
{
	struct value *h = build_norm(b, b->x, "attn_norm");

	build_add_scaled(b, "add", h, 1);
	build_add(b, build_low_rank(b, h, "laurel_l", 64, "laurel_r"), (struct sum){ .norm = "laurel_post_norm" });
	return h;
}

static void gemma3n_layer(struct builder *b, size_t il)
{
	struct value *predicted = build_predict(b), *h = laurel(b), *x;

	x = build_branch(b, build_attention(b, build_qkv(b, h), HEADS_NORMED), "attn_output");
	build_add(b, x, (struct sum){ .norm = "post_attention_norm", .after = 0x1.6a09e6p-1f });  /* 1 / sqrt(2) */
	x = build_branch(b, build_gated(b, build_norm(b, b->x, "ffn_norm"), UNARY_GELU), "ffn_down");
	build_add(b, x, (struct sum){ .norm = "post_ffw_norm" });
	build_spread(b, build_per_layer(b, build_correct(b, predicted)), "post_norm");
}

static void gemma4_layer(struct builder *b, size_t il)
{
	struct value *x = build_norm(b, b->x, "attn_norm");
	struct sum last = { .norm = "post_ffw_norm" };

	x = build_branch(b, build_attention(b, build_qkv(b, x), HEADS_NORMED), "attn_output");
	build_add(b, x, (struct sum){ .norm = "post_attention_norm" });
	x = b->layer->experts ? build_beside_experts(b, UNARY_GELU)
		: build_branch(b, build_gated(b, build_norm(b, b->x, "ffn_norm"), UNARY_GELU), "ffn_down");
	if (per_layer_of(b->model)->n) {
		build_add(b, x, last);
		x = build_per_layer(b, b->x);
		last.norm = "post_norm";
	}
	if (build_has(b, "layer_output_scale"))
		last.after = build_number(b, "layer_output_scale");
	build_add(b, x, last);
}

const struct family families_gemma[] = {
	{ .arch = "gemma", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma, .decoder = { .f = UNARY_GELU } },
	{ .arch = "gemma2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma2, .window = 4096,
	  .decoder = { .f = UNARY_GELU, .post_norms = 1 } },
	{ .arch = "gemma3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma3, .window = NO_WINDOW,
	  .decoder = { .f = UNARY_GELU, .post_norms = 1, .heads = HEADS_NORMED } },
	{ .arch = "gemma-embedding", .norm = NORM_RMS, .headless = 1, .sees_all = 1, .pairs = ROPE_HALVES, .n_dense = 2,
	  .read = gemma_embedding, .decoder = { .f = UNARY_GELU, .post_norms = 1, .heads = HEADS_NORMED } },
	{ .arch = "gemma3n", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma3n, .streams = &altup_streams,
	  .layer = gemma3n_layer },
	{ .arch = "gemma4", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma4, .layer = gemma4_layer,
	  .decoder = { .v_from_k = 1 },
	  .has_experts = 1, .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
