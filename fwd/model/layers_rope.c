/* RoPE's hyperparameters: scaling and factors for all layers, and what differs in layers with a window. */
#include "layers.h"

#include <math.h>

#include "lib/base/fmath.h"

enum { SECTIONS = 4 };  /* of RoPE's pairs; text uses the first three */

/* Some files have a factor for each rotated pair, others for each pair of the head. */
static int read_factor(struct model *m, const char *name, size_t n_rot, size_t dim_k, const float **out, struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);

	return model_vector(m, name, (t && t->dim[0] == dim_k / 2 ? dim_k : n_rot) / 2, out, w);
}

/* Reads rope_freqs, or rope_factors_long and _short; the context decides which of these two applies. */
static int read_factors(struct model *m, struct rope_spec *r, size_t dim_k, struct why *w)
{
	if (model_has(m, "rope_freqs.weight"))
		return read_factor(m, "rope_freqs.weight", r->n_rot, dim_k, &r->factors, w);
	if (!model_has(m, "rope_factors_long.weight"))
		return 0;
	if (read_factor(m, "rope_factors_short.weight", r->n_rot, dim_k, &r->factors, w) < 0)
		return -1;
	return read_factor(m, "rope_factors_long.weight", r->n_rot, dim_k, &r->factors_long, w);
}

static int read_scaling(struct model *m, struct rope_spec *r, struct why *w)
{
	struct gguf_string type = { .s = "linear", .n = 6 };
	int bad = gguf_text(m->gguf, key_name(m, "rope.scaling.type").s, &type, w);

	/* LongRoPE's factors apply in addition to the scaling of the context */
	if (gguf_is(type, "linear") || gguf_is(type, "longrope"))
		r->scaling = ROPE_LINEAR;
	else if (gguf_is(type, "yarn"))
		r->scaling = ROPE_YARN;
	else if (!gguf_is(type, "none"))
		bad = why(w, "%s: \"%.*s\" is not supported", key_name(m, "rope.scaling.type").s,
			GGUF_SHOWN(type));
	return bad < 0 ? why_tell(m->faults, w) : 0;
}

int layers_read_rope(struct model *m, size_t dim_k, struct why *w)
{
	struct rope_spec *r = &m->rope;
	size_t n_ctx_orig = m->n_ctx_train;

	*r = (struct rope_spec){ .n_rot = dim_k, .base = 10000, .factor = 1, .beta_fast = 32, .beta_slow = 1,
		.kept = 1, .attn_factor = 1 };
	if (key_size(m, "rope.dimension_count", 2, dim_k, &r->n_rot, w) < 0
	    || key_real(m, "rope.freq_base", 1.0001, 1e15, &r->base, w) < 0 || read_scaling(m, r, w) < 0
	    || key_real(m, "rope.scale_linear", 0, 1e6, &r->factor, w) < 0
	    || key_real(m, "rope.scaling.factor", 0, 1e6, &r->factor, w) < 0
	    || key_size(m, "rope.scaling.original_context_length", 1, CTX_MAX, &n_ctx_orig, w) < 0
	    || key_real(m, "rope.scaling.attn_factor", 0, 1e3, &r->attn_factor, w) < 0)
		return -1;
	if (r->n_rot % 2 || r->n_rot < 2) {
		why(w, "%s: %zu is odd", key_name(m, "rope.dimension_count").s, r->n_rot);
		r->n_rot = 2;
		if (key_fault(m, w) < 0)
			return -1;
	}
	/* some files have 0 if there is no scaling */
	r->factor = r->factor > 0 ? r->factor : 1;
	r->n_ctx_orig = (double)n_ctx_orig;
	return read_factors(m, r, dim_k, w);
}

void layers_plain_rope(struct model *m, double base)
{
	m->rope.base = base;
	m->rope.scaling = ROPE_PLAIN;
	m->rope.attn_factor = 1;
	m->rope.factors = m->rope.factors_long = NULL;
}

static int set_sliding_rope(struct model *m, struct rope_spec rope, struct why *w)
{
	m->rope_sliding = rope;
	for (size_t il = 0; il < m->n_layer; il++)
		if ((m->layer[il].window || m->layer[il].chunk) && m->layer[il].rope)
			m->layer[il].rope = &m->rope_sliding;
	return key_real(m, "rope.freq_base_swa", 1.0001, 1e15, &m->rope_sliding.base, w);
}

int layers_sliding_rope(struct model *m, double base, struct why *w)
{
	struct rope_spec plain = m->rope;

	/* As in llama.cpp: a YaRN factor below 1 changes the magnitude even of layers without scaling; one above 1 does
	 * not. */
	if (plain.scaling == ROPE_YARN && plain.factor < 1)
		plain.attn_factor /= 1 + 0.1 * fmath_log(plain.factor);
	plain.base = base;
	plain.scaling = ROPE_PLAIN;
	plain.factors = plain.factors_long = NULL;
	return set_sliding_rope(m, plain, w);
}

int layers_slide_unscaled(struct model *m, size_t period, struct why *w)
{
	int bad = layers_slide(m, period, w) < 0 || layers_sliding_rope(m, m->rope.base, w) < 0;

	m->rope_sliding.base = m->rope.base;
	m->rope_sliding.attn_factor = 1;
	return bad ? -1 : 0;
}

int layers_sliding_rot(struct model *m, struct why *w)
{
	struct rope_spec *r = &m->rope_sliding;
	size_t most = r->factors ? m->rope.n_rot : m->layer[0].dim_k;

	if (key_size(m, "rope.dimension_count_swa", 2, most, &r->n_rot, w) < 0)
		return -1;
	return r->n_rot % 2 ? why(w, "%s: %zu is odd", key_name(m, "rope.dimension_count_swa").s, r->n_rot) : 0;
}

int layers_rot_of_first(struct model *m, struct why *w)
{
	struct rope_spec sliding = m->rope_sliding;

	m->rope_sliding = m->rope;
	if (m->layer[0].window && layers_sliding_rot(m, w) < 0)
		return -1;
	m->rope.n_rot = sliding.n_rot = m->rope_sliding.n_rot;
	m->rope_sliding = sliding;
	return 0;
}

int layers_sliding_base(struct model *m, struct why *w)
{
	int stretched = m->rope.scaling == ROPE_PLAIN && m->rope.factor != 1;
	struct rope_spec rope = m->rope;

	if (!stretched && !gguf_find(m->gguf, key_name(m, "rope.freq_base_swa").s)
	    && !gguf_find(m->gguf, key_name(m, "rope.dimension_count_swa").s))
		return 0;
	if (stretched)
		rope.scaling = ROPE_LINEAR;
	return set_sliding_rope(m, rope, w);
}

/* Whether pair i belongs to one of the first three sections, whose coordinates in text are all equal to the position.
 * Sections are consecutive or interleaved; they repeat after `sum` pairs. */
static int is_rotated(const size_t section[SECTIONS], size_t sum, size_t i, int interleaved)
{
	i %= sum;
	return interleaved ? i < 3 * section[i % 3] : i < section[0] + section[1] + section[2];
}

int layers_sections(struct model *m, int interleaved, struct why *w)
{
	struct key_name key = key_name(m, "rope.dimension_sections");
	const struct gguf_value *v = gguf_find(m->gguf, key.s);
	size_t n = m->rope.n_rot / 2, sum = 0, section[SECTIONS] = { 0 };
	float *factors = model_floats(m, n);
	int found = gguf_array(m->gguf, key.s, v && v->of == GGUF_U32 ? GGUF_U32 : GGUF_I32, &v, w);

	if (found > 0 && v->n != SECTIONS)
		found = why(w, "%s: %llu elements, not %d", key.s, (unsigned long long)v->n, SECTIONS);
	if (found < 0)
		return why_tell(m->faults, w);
	if (!factors)
		return why(w, "out of memory");
	for (size_t i = 0; found && i < SECTIONS; i++)
		sum += section[i] = (size_t)gguf_element_integer(v, i) & UINT16_MAX;
	for (size_t i = 0; i < n && sum; i++) {
		factors[i] = is_rotated(section, sum, i, interleaved) ? 1 : INFINITY;
		if (factors[i] > 1)
			m->rope.factors = factors;
	}
	return section[0] && section[1];
}

int layers_betas(struct model *m, struct why *w)
{
	return key_real(m, "rope.scaling.yarn_beta_fast", 0, 1e6, &m->rope.beta_fast, w) < 0
		|| key_real(m, "rope.scaling.yarn_beta_slow", 0, 1e6, &m->rope.beta_slow, w) < 0 ? -1 : 0;
}

void layers_unrotate_full(struct model *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		if (!m->layer[il].window)
			m->layer[il].rope = NULL;
}
