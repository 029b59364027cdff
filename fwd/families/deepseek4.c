/* DeepSeek 4 (DeepSeek-AI 2026): compressed attention, hyper-connections that mix the streams with a matrix, and first
 * layers that choose experts by token id. */

#include "fwd/builder/builder.h"
#include "fwd/builder/compressed.h"
#include "fwd/builder/indexer.h"
#include "fwd/model/family.h"
#include "fwd/model/layers.h"
#include "fwd/residual/hyper.h"
#include "lib/base/fmath.h"

enum { GROUPED_RATIO = 128 };

static int read_sizes(struct model *m, struct why *w)
{
	struct compressed *c = compressed_of(m);

	if (key_required(m, "attention.q_lora_rank", 1, RANK_MAX, &c->rank_q, w) < 0
	    || key_required(m, "attention.output_group_count", 1, m->layer[0].n_head, &c->groups, w) < 0
	    || key_required(m, "attention.output_lora_rank", 1, RANK_MAX, &c->rank_out, w) < 0
	    || indexer_read(m, w) < 0)
		return -1;
	indexer_of(m)->rope_at = indexer_of(m)->dim - m->rope.n_rot;
	return 0;
}

/* The array may be longer than the number of layers in the file. */
static int read_ratios(struct model *m, struct why *w)
{
	struct key_name key = key_name(m, "attention.compress_ratios");
	const struct gguf_value *v = gguf_find(m->gguf, key.s);

	if (!v || v->type != GGUF_ARRAY || (v->of != GGUF_I32 && v->of != GGUF_U32) || v->n < m->n_block)
		return why(w, "%s: not a number for each layer", key.s);
	for (size_t il = 0; il < m->n_layer; il++) {
		int64_t ratio = gguf_element_integer(v, il);

		if (ratio && ratio != INDEXED_RATIO && ratio != GROUPED_RATIO)
			return why(w, "%s: %lld: not 0, %d or %d", key.s, (long long)ratio, INDEXED_RATIO,
				GROUPED_RATIO);
		m->layer[il].ratio = (size_t)ratio;
		m->layer[il].sparse = ratio == INDEXED_RATIO ? CHOOSES : SEES_ALL;
	}
	return 0;
}

/* Only layers with compressed rows use YaRN, with their own base. attn_factor cancels the magnitude correction that
 * YaRN would apply. */
static int read_rotations(struct model *m, struct why *w)
{
	struct rope_spec *r = &m->rope;

	m->rope_sliding = *r;
	m->rope_sliding.scaling = ROPE_PLAIN;
	m->rope_sliding.attn_factor = 1;
	r->attn_factor = r->scaling == ROPE_YARN && r->factor > 1 ? 1 / (1 + 0.1 * fmath_log(r->factor)) : 1;
	if (!gguf_find(m->gguf, key_name(m, "attention.compress_rope_freq_base").s))
		return why(w, "%s: missing", key_name(m, "attention.compress_rope_freq_base").s);
	return key_real(m, "attention.compress_rope_freq_base", 1.0001, 1e15, &r->base, w);
}

static int deepseek4(struct model *m, struct why *w)
{
	size_t window = 0;

	if (read_sizes(m, w) < 0 || hyper_read(m, w) < 0 || read_ratios(m, w) < 0 || read_rotations(m, w) < 0
	    || key_required(m, "attention.sliding_window", 1, CTX_MAX, &window, w) < 0
	    || key_size(m, "hash_layer_count", 0, m->n_layer, &m->experts.by_id, w) < 0
	    || layers_check_dims(m, w) < 0 || layers_limit_all_gates(m, w) < 0)
		return -1;
	for (size_t il = 0; il < m->n_layer; il++) {
		struct layer *l = &m->layer[il];

		if (l->n_head_kv != 1)
			return why(w, "%s: %zu, not 1", key_name(m, "attention.head_count_kv").s, l->n_head_kv);
		if (l->n_head % compressed_of(m)->groups)
			return why(w, "%s: %zu does not divide the %zu heads",
				key_name(m, "attention.output_group_count").s, compressed_of(m)->groups, l->n_head);
		l->window = window;
		l->v_in_k = 1;
		l->rope_at = l->dim_k - m->rope.n_rot;
		l->rope = l->ratio ? &m->rope : &m->rope_sliding;
	}
	return 0;
}

const struct family families_deepseek4[] = {
	{ .arch = "deepseek4", .norm = NORM_RMS, .read = deepseek4, .streams = &hyper_streams,
	  .predicts = PREDICTS_BY_NAME, .has_experts = 1,
	  .experts = { .gating = GATING_ROOT, .reads_gating = 1, .reads_weights = 1 } },
	{ .arch = NULL },
};
