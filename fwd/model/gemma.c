/* Gemma 1 to 3 (Google 2024, 2025): scaled embeddings, GELU, later norms after the branches, windows and caps. */
#include <math.h>

#include "families.h"
#include "layers.h"

static int gemma(struct model *m, struct why *w)
{
	m->embedding_scale = sqrtf((float)m->n_embd);
	return 0;
}

/* The largest model of a generation divides scores by the root of n_embd / n_head, not of dim_k. */
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
	return layers_slide(m, 2, w);
}

static int gemma3(struct model *m, struct why *w)
{
	scale_largest(m, 62);
	gemma(m, w);
	if (key_float(m, "final_logit_softcapping", 0, 1e6, &m->logit_cap, w) < 0)
		return -1;
	return layers_slide(m, 6, w) < 0 || layers_sliding_rope(m, 10000, w) < 0 ? -1 : 0;
}

const struct family families_gemma[] = {
	{ .arch = "gemma", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma, .decoder = { .f = UNARY_GELU } },
	{ .arch = "gemma2", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma2,
	  .decoder = { .f = UNARY_GELU, .post_norms = 1 } },
	{ .arch = "gemma3", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = gemma3,
	  .decoder = { .f = UNARY_GELU, .post_norms = 1, .heads = HEADS_NORMED } },
	{ .arch = NULL },
};
