/* reference_model: weights, and the sizes and options that most families have. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "reference_keys.h"

static struct why w;

_Noreturn void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "reference: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	exit(1);
}

void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

/* ---- weights ---- */

static const struct gguf_tensor *tensor(const struct reference *m, const char *format, va_list ap)
{
	char name[64];

	vsnprintf(name, sizeof name, format, ap);
	return gguf_tensor(m->g, name);
}

static size_t elements(const struct gguf_tensor *t)
{
	return t ? (size_t)(t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3]) : 0;
}

size_t n_weights(const struct reference *m, const char *format, ...)
{
	va_list ap;
	size_t n;

	va_start(ap, format);
	n = elements(tensor(m, format, ap));
	va_end(ap);
	return n;
}

float *weights(const struct reference *m, size_t n, const char *format, ...)
{
	const struct gguf_tensor *t;
	const struct format *f;
	float *x;
	va_list ap;

	va_start(ap, format);
	t = tensor(m, format, ap);
	va_end(ap);
	if (!t)
		return NULL;
	if (elements(t) != n)
		die("%.*s: %zu values expected", GGUF_SHOWN(t->name), n);
	if (!(f = format_of(t->type)))
		die("%.*s: type %u is not read", GGUF_SHOWN(t->name), (unsigned)t->type);
	x = memory(n, sizeof *x);
	format_dequantise(f, t->data, x, n);
	return x;
}

const char *reference_embedding(const struct reference *m)
{
	return n_weights(m, "token_embd.weight") ? "token_embd.weight" : "output.weight";
}

/* ---- sizes and options ---- */

static void read_layer(struct reference *m, size_t il)
{
	struct reference_layer *l = &m->layer[il];

	l->rotated = !m->rules->unrotated;
	l->kv_of = il;
	l->n_ff = key_size_at(m, "feed_forward_length", il, 0);
	l->n_head = key_size_at(m, "attention.head_count", il, 0);
	l->n_head_kv = key_size_at(m, "attention.head_count_kv", il, l->n_head);
	l->head_dim = key_size(m, "attention.key_length", l->n_head ? m->n_embd / l->n_head : 0);
	l->dim_v = key_size(m, "attention.value_length", l->n_head ? m->n_embd / l->n_head : 0);
	l->n_rot = key_size(m, "rope.dimension_count", l->head_dim);
	l->n_used = key_size_at(m, "expert_used_count", il, 0);
}

void reference_enter(struct reference *m, size_t il)
{
	const struct reference_layer *l = &m->layer[il];

	m->n_head = l->n_head;
	m->n_head_kv = l->n_head_kv;
	m->head_dim = l->head_dim;
	m->dim_v = l->dim_v;
	m->n_rot = l->n_rot;
	m->n_ff = l->n_ff;
	m->n_used = l->n_used;
	if (l->scale > 0)
		m->scale = l->scale;
}

static void read_sizes(struct reference *m)
{
	/* Layers that predict further tokens, not run; our files of DeepSeek 4 have none, whatever the key says. */
	size_t further = strcmp(m->arch, "deepseek4") ? key_size(m, "nextn_predict_layers", 0) : 0;

	m->n_embd = key_size(m, "embedding_length", 1);
	m->n_vocab = n_weights(m, reference_embedding(m)) / m->n_embd;
	m->n_layer = key_size(m, "block_count", 0) - further;
	m->n_state_groups = key_size(m, "ssm.group_count", 1);
	m->wkv_head = key_size(m, "wkv.head_size", 1);
	m->halved = key_size(m, "rescale_every_n_layers", 0);
	m->norms_state = key_flag(m, "ssm.dt_b_c_rms", 0);
	m->eps = key_real(m, "attention.layer_norm_rms_epsilon", key_real(m, "attention.layer_norm_epsilon", 1e-5));
	m->n_streams = m->times = 1;
	m->embedding_scale = m->residual_scale = m->logit_scale = m->attn_out_scale = 1;
	m->halves = m->rules->halves;
	m->sees_all = m->rules->sees_all || !key_flag(m, "attention.causal", 1);
	m->parallel = m->rules->parallel && !n_weights(m, "blk.0.ffn_norm.weight");
	if (!m->n_layer || m->n_layer > REFERENCE_LAYERS)
		die("%zu layers", m->n_layer);
	for (size_t il = 0; il < m->n_layer; il++)
		read_layer(m, il);
	reference_enter(m, 0);
	m->scale = 1 / sqrt((double)m->head_dim);
}

static void read_rope(struct reference *m)
{
	struct gguf_string scaling = { "linear", 6 };
	double context = (double)key_size(m, "context_length", 0);

	if (gguf_text(m->g, key_name(m, "rope.scaling.type"), &scaling, &w) < 0)
		die("%s", w.text);
	m->yarn = gguf_is(scaling, "yarn") || m->rules->ollama;
	m->factor = m->yarn || gguf_is(scaling, "linear") || gguf_is(scaling, "longrope")
		? or_one(key_real(m, "rope.scaling.factor", 1)) : 1;
	m->rope_base = key_real(m, "rope.freq_base", 10000);
	m->original_ctx = key_real(m, "rope.scaling.original_context_length", context);
	m->beta_fast = 32;
	m->beta_slow = m->kept = 1;
	m->plain_length = 1;
	m->rope_length = key_real(m, "rope.scaling.attn_factor", 1);
	if (m->yarn && m->factor > 1)
		m->rope_length *= 1 + 0.1 * log(m->factor);
	m->factors = "rope_freqs.weight";
	if (n_weights(m, "rope_factors_long.weight"))
		m->factors = context > m->original_ctx ? "rope_factors_long.weight" : "rope_factors_short.weight";
}

static void read_experts(struct reference *m)
{
	const struct rules *r = m->rules;

	m->n_expert = key_size(m, "expert_count", 0);
	m->gate = r->gate ? r->gate : GATE_SOFTMAX;
	if (r->gate_key)
		m->gate = (enum gate)key_size(m, "expert_gating_func", m->gate);
	m->normalised = r->weight_keys ? key_flag(m, "expert_weights_norm", r->normalised) : r->normalised;
	m->weights_scale = r->weight_keys || r->scale_key ? or_one(key_real(m, "expert_weights_scale", 1)) : 1;
	m->n_groups = key_size(m, "expert_group_count", 1);
	m->n_groups_used = key_size(m, "expert_group_used_count", 1);
	if (m->n_expert > REFERENCE_EXPERTS)
		die("%zu experts", m->n_expert);
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].n_used > m->n_expert)
			die("%zu of %zu experts", m->layer[il].n_used, m->n_expert);
}

void reference_read(struct reference *m, const struct gguf *g)
{
	struct gguf_string arch;

	*m = (struct reference){ .g = g };
	if (gguf_text(g, "general.architecture", &arch, &w) != 1 || arch.n >= sizeof m->arch)
		die("no architecture");
	memcpy(m->arch, arch.s, arch.n);
	m->rules = reference_rules(arch);
	if (!m->rules)
		die("architecture %s has no reference", m->arch);
	m->act = m->rules->act;
	read_sizes(m);
	read_rope(m);
	read_experts(m);
	if (m->rules->adapt)
		m->rules->adapt(m);
}
