/* What most families share, except RoPE (layers_rope.c). */
#include "layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/fmath.h"
#include "lib/base/size.h"
#include "family.h"
#include "tensors.h"

/* No real model comes near this, and products of two or three of these bounds do not overflow. */
enum { HEADS_MAX = 1 << 14 };

/* Tensor `name` of layer il, or NULL. */
static const struct gguf_tensor *tensor(const struct model *m, size_t il, const char *name)
{
	char s[96];

	snprintf(s, sizeof s, "blk.%zu.%s.weight", il, name);
	return gguf_tensor(m->gguf, s);
}

/* ---- sizes ---- */

/* Head sizes of the layers with attention. */
static int read_heads(struct model *m, struct layer *l, struct why *w)
{
	size_t dim = m->n_embd / l->n_head;

	l->dim_k = l->dim_v = dim;
	if (key_size(m, "attention.key_length", 1, DIM_MAX, &l->dim_k, w) < 0
	    || key_size(m, "attention.value_length", 1, DIM_MAX, &l->dim_v, w) < 0)
		return -1;
	if (!size_min(l->dim_k, l->dim_v) || size_max(l->dim_k, l->dim_v) > DIM_MAX) {
		why(w, "%s: heads of %zu elements (1 to %d are supported)", key_name(m, "attention.head_count").s, dim,
			DIM_MAX);
		l->dim_k = l->dim_v = 1;
		if (key_fault(m, w) < 0)
			return -1;
	}
	if (l->n_head % l->n_head_kv) {
		why(w, "%s: %zu does not divide the %zu heads", key_name(m, "attention.head_count_kv").s, l->n_head_kv,
			l->n_head);
		l->n_head_kv = l->n_head;
		if (key_fault(m, w) < 0)
			return -1;
	}
	l->scale = 1 / sqrtf((float)l->dim_k);
	return 0;
}

static int read_layer(struct model *m, size_t il, struct layer *l, struct why *w)
{
	const struct family *f = m->family;

	if (key_size_at(m, "feed_forward_length", il, !f->partial && !f->has_experts, FF_MAX, &l->n_ff, w) < 0
	    || key_size_at(m, "attention.head_count", il, !f->mixer, HEADS_MAX, &l->n_head, w) < 0)
		return -1;
	if (!l->n_head && !f->mixer) {
		why(w, "%s: missing", key_name(m, "attention.head_count").s);
		l->n_head = size_max(m->n_embd / DIM_MAX, 1);
		if (key_fault(m, w) < 0)
			return -1;
	}
	l->n_head_kv = l->n_head;
	if (key_size_at(m, "attention.head_count_kv", il, !f->mixer, l->n_head, &l->n_head_kv, w) < 0)
		return -1;
	l->attends = l->n_head_kv > 0;
	l->mixer = l->attends ? NULL : f->mixer;
	return l->attends ? read_heads(m, l, w) : 0;
}

/* ---- experts ---- */

/* A dimension of a tensor, where no key gives the size. The builder checks that the other tensors agree. */
static size_t size_of(const struct gguf_tensor *t)
{
	return t && t->dim[0] <= FF_MAX ? (size_t)t->dim[0] : 0;
}

static int read_gating(struct model *m, struct experts *e, struct why *w)
{
	const struct expert_rule *rule = &m->family->experts;
	size_t gating = 0;

	e->gating = rule->gating;
	e->normalise = rule->normalise;
	e->weighted = rule->weighted;
	e->scale = e->scale_shared = 1;
	if (rule->reads_gating && key_size(m, "expert_gating_func", 0, 4, &gating, w) < 0)
		return -1;
	if (gating)
		e->gating = (enum gating)(gating - 1);
	if ((rule->reads_weights && key_flag(m, "expert_weights_norm", &e->normalise, w) < 0)
	    || ((rule->reads_weights || rule->reads_scale)
	    && key_float(m, "expert_weights_scale", 0, 1e6, &e->scale, w) < 0))
		return -1;
	e->scale = e->scale > 0 ? e->scale : 1;
	return 0;
}

/* How many experts there are and each row uses, and in how many groups. *used stays 0 if it differs by layer. */
static int read_counts(struct model *m, int by_layer, size_t *used, struct why *w)
{
	struct experts *e = &m->experts;

	e->groups = e->groups_used = 0;
	if (key_size(m, "expert_count", 0, EXPERTS_MAX, &e->n, w) < 0
	    || key_size(m, "expert_group_count", 0, e->n ? e->n - 1 : 0, &e->groups, w) < 0
	    || (!by_layer && (e->n ? key_required : key_size)(m, "expert_used_count", e->n > 0, e->n, used, w) < 0))
		return -1;
	e->groups = size_max(e->groups, 1);
	if (e->groups > 1 && key_required(m, "expert_group_used_count", 1, e->groups - 1, &e->groups_used, w) < 0)
		return -1;
	e->groups_used = size_max(e->groups_used, 1);
	if (e->n % e->groups == 0)
		return 0;
	why(w, "%s: %zu does not divide the %zu experts", key_name(m, "expert_group_count").s, e->groups, e->n);
	e->groups = e->groups_used = 1;
	return why_tell(m->faults, w);
}

/* Reads the sizes of layer il. z->used stays as it is unless expert_used_count has a number for each layer. */
static int read_expert_sizes(struct model *m, size_t il, int by_layer, struct expert_sizes *z, struct why *w)
{
	if (by_layer && key_size_at(m, "expert_used_count", il, 1, m->experts.n, &z->used, w) < 0)
		return -1;
	z->n_ff = size_of(tensor(m, il, "ffn_down_exps"));
	z->n_ff_shared = size_of(tensor(m, il, "ffn_down_shexp"));
	if (z->n_ff)
		return 0;
	if (tensor(m, il, "ffn_down.0"))        /* files from before April 2024 */
		why(w, "tensor blk.%zu.ffn_down.0.weight: experts in separate tensors are not supported", il);
	else
		why(w, "tensor blk.%zu.ffn_down_exps.weight: missing", il);
	z->n_ff = 1;
	return key_fault(m, w);
}

/* Every layer with a router has experts. The counts are checked even if the family has none, as in llama.cpp. */
static int read_experts(struct model *m, struct why *w)
{
	struct experts *e = &m->experts;
	const struct gguf_value *used = gguf_find(m->gguf, key_name(m, "expert_used_count").s);
	int by_layer = used && used->type == GGUF_ARRAY;
	struct expert_sizes sizes = { 0 };

	if (read_counts(m, by_layer, &sizes.used, w) < 0)
		return -1;
	if (!m->family->has_experts) {
		key_unused(m, "expert_count", 0);
		e->n = 0;
	}
	if (!e->n)
		return 0;
	if (read_gating(m, e, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (!tensor(m, il, "ffn_gate_inp"))
			continue;
		if (read_expert_sizes(m, il, by_layer, &sizes, w) < 0)
			return -1;
		l->experts = e;
		l->expert_sizes = sizes;
		e->most = (struct expert_sizes){ size_max(e->most.used, sizes.used),
			size_max(e->most.n_ff, sizes.n_ff), size_max(e->most.n_ff_shared, sizes.n_ff_shared) };
	}
	if (!e->most.used)      /* all layers are dense */
		e->n = 0;
	return 0;
}

/* ---- all of it ---- */

/* The length can be told from the tensors, too, so in a survey a missing key is only one fault. */
static int miss_n_ff(struct model *m, size_t il, struct why *w)
{
	size_t n_ff = size_of(tensor(m, il, "ffn_down"));

	why(w, "%s: missing", key_name(m, "feed_forward_length").s);
	m->layer[il].n_ff = n_ff ? n_ff : 1;
	return n_ff ? why_tell(m->faults, w) : key_fault(m, w);
}

/* What the ops take for granted about the heads of each layer, whatever the keys say. Gates of elements share the room
 * of the keys. */
static int check_heads(const struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++) {
		const struct layer *l = &m->layer[il];

		if (!l->attends)
			continue;
		if (l->rope && l->rope_at + l->rope->n_rot > l->dim_k)
			return why(w, "layer %zu: RoPE of %zu elements, but keys of %zu", il,
				l->rope_at + l->rope->n_rot, l->dim_k);
		if (l->gates == GATES_ELEMENTS && layer_dim_out(l) > l->dim_k)
			return why(w, "layer %zu: gates of %zu elements, but keys of %zu", il, layer_dim_out(l),
				l->dim_k);
	}
	return 0;
}

/* Tensors that the family does not use, of the model and of each layer. */
static void ignore_tensors(struct model *m)
{
	for (const char *const *name = m->family->unused; *name; name++)
		model_ignore(m, *name);
	for (size_t il = 0; il < m->n_layer; il++)
		layers_ignore(m, il, m->family->unused);
}

/* Lets each of the layers' mixers read its hyperparameters. */
static int read_mixers(struct model *m, struct why *w)
{
	for (size_t il = 0; il < m->n_layer; il++) {
		const struct mixer *mixer = m->layer[il].mixer;
		size_t first = 0;

		while (m->layer[first].mixer != mixer)
			first++;
		if (mixer && first == il && mixer->read && mixer->read(m, w) < 0)
			return -1;
	}
	return 0;
}

int layers_read(struct model *m, struct why *w)
{
	size_t dim_k = DIM_MAX; /* smallest of all layers */

	m->norm = m->family->norm;
	m->pairs = m->family->pairs;
	m->layer = calloc(m->n_layer, sizeof *m->layer);
	if (!m->layer)
		return why(w, "out of memory");
	ignore_tensors(m);
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		l->block = il;
		if (read_layer(m, il, l, w) < 0)
			return -1;
		l->rope = m->family->unrotated ? NULL : &m->rope;
		if (l->attends)
			dim_k = size_min(dim_k, l->dim_k);
	}
	if (!m->family->unrotated && layers_read_rope(m, dim_k, w) < 0)
		return -1;
	if (read_experts(m, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer && !m->family->partial; il++)
		if (!m->layer[il].n_ff && !m->layer[il].experts && miss_n_ff(m, il, w) < 0)
			return -1;
	if (m->family->read && m->family->read(m, w) < 0)
		return -1;
	return read_mixers(m, w) < 0 ? -1 : check_heads(m, w);
}

/* ---- for families ---- */

/* late: the first layer of each period has no window, instead of the last. */
static int slide(struct model *m, size_t period, int late, struct why *w)
{
	const struct gguf_value *v = gguf_find(m->gguf, key_name(m, "attention.sliding_window_pattern").s);
	size_t window = m->family->window == NO_WINDOW ? 0 : m->family->window, slides;
	int optional = m->family->window > 0;

	if ((optional ? key_size : key_required)(m, "attention.sliding_window", 0, CTX_MAX, &window, w) < 0)
		return -1;
	if (v && v->type != GGUF_ARRAY
	    && key_size(m, "attention.sliding_window_pattern", 0, TENSORS_LAYERS, &period, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		slides = !period || il % period != (late ? 0 : period - 1);
		if (v && v->type == GGUF_ARRAY
		    && key_size_at(m, "attention.sliding_window_pattern", il, 0, 1, &slides, w) < 0)
			return -1;
		m->layer[il].window = slides ? window : 0;
	}
	return 0;
}

int layers_slide(struct model *m, size_t period, struct why *w)
{
	return slide(m, period, 0, w);
}

int layers_slide_late(struct model *m, size_t period, struct why *w)
{
	return slide(m, period, 1, w);
}

void layers_center_windows(struct model *m)
{
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].window)
			m->layer[il].window = m->layer[il].window / 2 + 1;
}

int layers_temper(struct model *m, size_t length, struct why *w)
{
	float scale = 0;

	if (key_float(m, "attention.temperature_scale", 0, 1e3, &scale, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		m->layer[il].temperature = (struct temperature){ .scale = scale, .length = length };
	return 0;
}

void layers_ignore(struct model *m, size_t il, const char *const *names)
{
	char name[64];

	for (; *names; names++) {
		snprintf(name, sizeof name, "blk.%zu.%s", il, *names);
		model_ignore(m, name);
	}
}

void layers_find_gates(struct model *m)
{
	const struct gguf_tensor *t;

	for (size_t il = 0; il < m->n_layer; il++)
		if ((t = tensor(m, il, "attn_gate")))
			m->layer[il].gates = t->dim[1] == m->layer[il].n_head ? GATES_HEADS : GATES_ELEMENTS;
}

int layers_check_dims(const struct model *m, struct why *w)
{
	for (const struct layer *l = m->layer; l < m->layer + m->n_layer; l++)
		if (l->dim_k != l->dim_v)
			return why(w, "%s: %zu, but keys have %zu", key_name(m, "attention.value_length").s, l->dim_v,
				l->dim_k);
	return 0;
}

/* Reads the limits of SwiGLU, one for each layer; values near 0 mean none, and without the key all are `otherwise`.
 * Returns NULL on failure. `least`: smaller limits are refused, because silu, which is never below -0.2785, would then
 * need a lower limit, too. */
static const float *limits(struct model *m, const char *name, float otherwise, float least, struct why *w)
{
	struct key_name key = key_name(m, name);
	const struct gguf_value *v = gguf_find(m->gguf, key.s);
	size_t n = v && v->type == GGUF_ARRAY && v->n == m->n_block ? m->n_block : m->n_layer;
	float *limit = model_floats(m, n);

	if (!limit) {
		why(w, "out of memory");
		return NULL;
	}
	for (size_t il = 0; il < n; il++)
		limit[il] = otherwise;
	if (v && full_key_floats(m, key.s, n, limit, w) < 0)
		return NULL;
	for (size_t il = 0; il < n; il++) {
		if (limit[il] > 1e-6f && limit[il] < least) {
			why(w, "%s: %g: not supported below %g", key.s, (double)limit[il], (double)least);
			return NULL;
		}
		limit[il] = limit[il] > 1e-6f ? limit[il] : 0;
	}
	return limit;
}

int layers_limit(struct model *m, struct why *w)
{
	const float *dense = limits(m, "swiglu_clamp_shexp", 0, 0.2785f, w);
	const float *experts = dense ? limits(m, "swiglu_clamp_exp", 0, 0.2785f, w) : NULL;

	for (size_t il = 0; experts && il < m->n_layer; il++) {
		m->layer[il].limit = (struct glu_limit){ .act = dense[il], .up = dense[il] };
		m->layer[il].limit_experts = (struct glu_limit){ .act = experts[il], .up = experts[il] };
	}
	return experts ? 0 : -1;
}

/* Limits the gate to `most`: as silu is monotonic there, that limits act to silu(most). */
static struct glu_limit limit_gate(float most)
{
	return (struct glu_limit){ .act = (float)((double)most / (1 + fmath_exp_double(-(double)most))), .up = most };
}

int layers_limit_gates(struct model *m, float otherwise, struct why *w)
{
	const float *limit = limits(m, "swiglu_clamp_exp", otherwise, 0.5f, w);

	for (size_t il = 0; limit && il < m->n_layer; il++)
		m->layer[il].limit_experts = limit_gate(limit[il]);
	return limit ? 0 : -1;
}

int layers_limit_all_gates(struct model *m, struct why *w)
{
	int apart = gguf_find(m->gguf, key_name(m, "swiglu_clamp_shexp").s) != NULL;
	const float *limit = limits(m, apart ? "swiglu_clamp_shexp" : "swiglu_clamp_exp", 0, 0.5f, w);

	for (size_t il = 0; limit && il < m->n_layer; il++)
		m->layer[il].limit = limit_gate(limit[il]);
	return limit ? layers_limit_gates(m, 0, w) : -1;
}

/* If the number of heads is not a power of two, the heads after the largest power take every second slope of the
 * sequence for twice as many heads (Press et al. 2022). */
int layers_alibi(struct model *m, float most, struct why *w)
{
	size_t heads = m->layer[0].n_head, whole = 1;
	float *slope = model_floats(m, heads);

	if (!slope)
		return why(w, "out of memory");
	while (2 * whole <= heads)
		whole *= 2;
	for (size_t h = 0; h < heads; h++) {
		double step = h < whole ? (double)(h + 1) : (double)(2 * (h - whole) + 1) / 2;

		slope[h] = (float)fmath_exp_double(-step * (double)most / (double)whole * fmath_log(2));
	}
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].slope = slope;
		if (m->layer[il].n_head != heads)
			return why(w, "%s: differs by layer: not supported", key_name(m, "attention.head_count").s);
	}
	return 0;
}
