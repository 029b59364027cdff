/* Reading and checking the model's keys. */
#include "keys.h"

#include <stdio.h>
#include <string.h>

#include "family.h"

/* Features, and the value that means "off". */
static const struct feature {
	const char *name;
	double off;
} features[] = {
	{ "attention.max_alibi_bias", 0 }, { "attention.clamp_kqv", 0 },
	{ "attn_logit_softcapping", 0 }, { "final_logit_softcapping", 0 }, { "residual_scale", 1 },
	{ "embedding_scale", 1 }, { "attention.scale", 0 }, { "logit_scale", 1 },
	{ "attention.temperature_scale", 0 }, { "attention.shared_kv_layers", 0 },
	{ "attention.value_scale", 1 },
};

enum { FEATURES = sizeof features / sizeof *features };

struct key_name key_name(const struct model *m, const char *name)
{
	struct key_name k;

	snprintf(k.s, sizeof k.s, "%s.%s", m->arch, name);
	return k;
}

/* Returns the key's full name, and notes that the family reads it. */
static struct key_name asked(struct model *m, const char *name)
{
	for (size_t i = 0; i < FEATURES; i++)
		if (!strcmp(name, features[i].name))
			m->features |= 1u << i;
	return key_name(m, name);
}

int key_fault(struct model *m, struct why *w)
{
	m->unsure = 1;
	return why_tell(m->faults, w);
}

/* Whether a key does not affect the shapes of tensors. */
static int is_shapeless(const char *name)
{
	static const char *const names[] = { "context_length", "vocab_size", "attention.sliding_window",
		"rope.scaling.original_context_length", "expert_used_count", "expert_gating_func", "expert_group_count",
		"expert_group_used_count" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}

static int size_fault(struct model *m, const char *name, struct why *w)
{
	return is_shapeless(name) ? why_tell(m->faults, w) : key_fault(m, w);
}

int key_size(struct model *m, const char *name, size_t low, size_t high, size_t *out, struct why *w)
{
	int64_t n;
	int found = gguf_integer(m->gguf, asked(m, name).s, (int64_t)low, (int64_t)high, &n, w);

	if (found > 0)
		*out = (size_t)n;
	return found < 0 ? size_fault(m, name, w) : 0;
}

int key_required(struct model *m, const char *name, size_t low, size_t high, size_t *out, struct why *w)
{
	*out = low;
	if (key_size(m, name, low, high, out, w) < 0)
		return -1;
	if (gguf_find(m->gguf, key_name(m, name).s))
		return 0;
	why(w, "%s: missing", key_name(m, name).s);
	return size_fault(m, name, w);
}

int key_real(struct model *m, const char *name, double low, double high, double *out, struct why *w)
{
	double x = *out;
	int found = gguf_real(m->gguf, asked(m, name).s, &x, w);

	if (found > 0 && !(x >= low && x <= high))
		found = why(w, "%s: %g is not between %g and %g", key_name(m, name).s, x, low, high);
	if (found < 0)
		return why_tell(m->faults, w);
	*out = x;
	return 0;
}

int key_float(struct model *m, const char *name, double low, double high, float *out, struct why *w)
{
	double x = (double)*out;

	if (key_real(m, name, low, high, &x, w) < 0)
		return -1;
	*out = (float)x;
	return 0;
}

int key_scale(struct model *m, const char *name, float *out, struct why *w)
{
	if (key_float(m, name, 0, 1e6, out, w) < 0)
		return -1;
	*out = *out >= 1e-6f ? *out : 1;
	return 0;
}

int key_flag(struct model *m, const char *name, int *out, struct why *w)
{
	return gguf_bool(m->gguf, asked(m, name).s, out, w) < 0 ? why_tell(m->faults, w) : 0;
}

int key_size_at(struct model *m, const char *name, size_t il, size_t low, size_t high, size_t *out, struct why *w)
{
	struct key_name key = asked(m, name);
	const struct gguf_value *v = gguf_find(m->gguf, key.s);
	int64_t n;
	int bad = 0;

	if (!v || v->type != GGUF_ARRAY)
		return key_size(m, name, low, high, out, w);
	if (v->of != GGUF_I32 && v->of != GGUF_U32 && v->of != GGUF_BOOL)
		bad = why(w, "%s: neither integers nor flags", key.s);
	else if (v->n != m->n_block && v->n != m->n_layer)
		bad = why(w, "%s: %llu elements, but %zu layers", key.s, (unsigned long long)v->n, m->n_block);
	n = bad ? 0 : gguf_element_integer(v, il);
	if (!bad && (n < (int64_t)low || n > (int64_t)high))
		bad = why(w, "%s: %lld of layer %zu is not in %zu to %zu", key.s, (long long)n, il, low, high);
	if (bad)
		return size_fault(m, name, w);
	*out = (size_t)n;
	return 0;
}

int full_key_floats(struct model *m, const char *name, size_t n, float *out, struct why *w)
{
	const struct gguf_value *v = gguf_find(m->gguf, name);
	double x;

	if (!v)
		return why(w, "%s: missing", name);
	for (size_t i = 0; i < n; i++) {
		if (v->type != GGUF_ARRAY) {
			if (gguf_real(m->gguf, name, &x, w) < 0)
				return -1;
		} else if (v->of != GGUF_F32 || v->n != n)
			return why(w, "%s: not %zu numbers", name, n);
		else
			x = gguf_element_real(v, i);
		if (!(x >= -1e6 && x <= 1e6))
			return why(w, "%s: %g is not between -1e6 and 1e6", name, x);
		out[i] = (float)x;
	}
	return 0;
}

int key_integers(struct model *m, const char *name, size_t n, int64_t low, int64_t high, uint64_t *to,
	struct why *w)
{
	struct key_name key = key_name(m, name);
	const struct gguf_value *v = gguf_find(m->gguf, key.s);

	if (!v || v->type != GGUF_ARRAY || !gguf_is_integer(v->of) || v->n < n)
		return why(w, "%s: not %zu integers", key.s, n);
	for (size_t i = 0; i < n; i++) {
		int64_t x = gguf_element_integer(v, i);

		if (x < low || x > high)
			return why(w, "%s: %lld is not in %lld to %lld", key.s, (long long)x, (long long)low,
				(long long)high);
		to[i] = (uint64_t)x;
	}
	return 0;
}

void key_unused(struct model *m, const char *name, double off)
{
	struct key_name key = key_name(m, name);
	double x = off;
	struct why ignored;

	if (m->faults && (gguf_real(m->gguf, key.s, &x, &ignored) < 0 || x < off || x > off))
		model_note(m, "%s: not used by architecture %s", key.s, m->arch);
}

int keys_note_unused(struct model *m, struct why *w)
{
	for (size_t i = 0; i < FEATURES; i++)
		if (!(m->features & 1u << i))
			key_unused(m, features[i].name, features[i].off);
	return 0;
}
