/* Grok and Arctic: layers with a dense feed-forward part and a mixture of experts side by side. */
#include <math.h>

#include "fwd/builder/builder.h"
#include "fwd/model/layers.h"

static int check_experts(const struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		if (!m->layer[il].experts)
			return why(w, "%s: %zu, but layer %zu has none", key_name(m, "expert_count").s, m->experts.n,
				il);
	return 0;
}

/* Arctic (Snowflake 2024): the dense part is as wide as the model, whatever feed_forward_length says. */
static int arctic(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].n_ff = m->n_embd;
	return check_experts(m, w);
}

/* The branch of attention: both families have the same. */
static struct value *attention(struct builder *b)
{
	struct qkv x = build_qkv(b, build_norm(b, b->x, "attn_norm"));

	return build_branch(b, build_attention(b, x, HEADS_PLAIN), "attn_output");
}

static struct value *dense(struct builder *b, struct value *x, enum unary f)
{
	return build_branch(b, build_gated(b, x, f), "ffn_down");
}

/* The experts read the layer's input; the dense part also sees the result of attention. */
static void arctic_layer(struct builder *b, size_t il)
{
	struct value *branch = attention(b), *experts;

	experts = build_experts(b, build_norm(b, b->x, "ffn_norm_exps"), NULL, UNARY_SILU);
	build_add(b, branch, (struct sum){ .norm = NULL });
	branch = dense(b, build_norm(b, b->x, "ffn_norm"), UNARY_SILU);
	build_add(b, build_sum(b, "ffn_sum", branch, experts, 0), (struct sum){ .norm = NULL });
}

/* Grok 1 and 2 (xAI 2024, 2025). Files of Grok 1 lack some keys; the defaults are its values. */
static int grok(struct model *m, struct why *w)
{
	float scale = 0.08838834764831845f;
	double magnitude = 1;

	m->embedding_scale = 78.38367176906169f;
	m->logit_scale = 0.5773502691896257f;
	m->attn_cap = 30;
	m->rope.beta_fast = 8;
	if (layers_betas(m, w) < 0
	    || key_scale(m, "embedding_scale", &m->embedding_scale, w) < 0
	    || key_float(m, "logit_scale", 0, 1e6, &m->logit_scale, w) < 0
	    || key_float(m, "attention.output_scale", 0, 1e6, &scale, w) < 0
	    || key_float(m, "attn_logit_softcapping", 0, 1e6, &m->attn_cap, w) < 0
	    || key_float(m, "final_logit_softcapping", 0, 1e6, &m->logit_cap, w) < 0
	    || key_real(m, "rope.scaling.yarn_attn_factor", 0, 1e3, &magnitude, w) < 0
	    || key_real(m, "rope.scaling.yarn_ext_factor", 0, 1, &m->rope.kept, w) < 0)
		return -1;
	if (m->rope.kept <= 0 && m->rope.scaling == ROPE_YARN)
		m->rope.scaling = ROPE_LINEAR;
	if (m->rope.scaling != ROPE_YARN)       /* YaRN has its own */
		m->rope.attn_factor *= magnitude;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].scale = scale;
	return check_experts(m, w);
}

static void grok_layer(struct builder *b, size_t il)
{
	struct value *x, *branch;

	build_add(b, attention(b), (struct sum){ .norm = "attn_output_norm" });
	x = build_norm(b, b->x, "ffn_norm");
	branch = build_experts(b, x, NULL, UNARY_GELU);
	if (build_has(b, "ffn_up"))
		branch = build_sum(b, "ffn_sum", dense(b, x, UNARY_GELU), branch, sqrtf(0.5f));
	build_add(b, branch,
		(struct sum){ .norm = build_has(b, "layer_output_norm") ? "layer_output_norm" : "post_ffw_norm" });
}

const struct family families_grok[] = {
	{ .arch = "arctic", .norm = NORM_RMS, .read = arctic, .layer = arctic_layer, .has_experts = 1,
	  .experts = { .normalise = 1 } },
	{ .arch = "grok", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = grok, .layer = grok_layer, .has_experts = 1,
	  .experts = { .normalise = 1 } },
	{ .arch = NULL },
};
