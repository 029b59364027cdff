/* Families that run the same layers several times. Each run shares the weights and has its own K and V. */
#include <stdlib.h>
#include <string.h>

#include "fwd/builder/builder.h"
#include "fwd/model/layers.h"
#include "fwd/model/tensors.h"

/* nanbeige: x is normed before the layers are run again. HRM-Text: layers of a stack; runs of the low stack in a cycle,
 * plus one of the high stack. */
struct loops {
	int normed;
	size_t layers, cycle;
};

static struct loops *loops_of(struct model *m)
{
	static const char owner;

	return model_own(m, &owner, sizeof(struct loops));
}

/* Repeats the file's layers `times` times. Their `kv` must be NULL. */
static int repeat(struct model *m, size_t times, struct why *w)
{
	size_t n = m->n_layer;
	struct layer *layer = realloc(m->layer, n * times * sizeof *layer);

	if (!layer)
		return why(w, "out of memory");
	for (size_t i = 1; i < times; i++)
		memcpy(layer + i * n, layer, n * sizeof *layer);
	m->layer = layer;
	m->n_layer = n * times;
	return 0;
}

/* Nanbeige 4.2 (2026): the final norm is also applied between the runs, unless a key turns that off. */
static int nanbeige(struct model *m, struct why *w)
{
	size_t times = 1;
	int plain = 0;

	if (key_size(m, "num_loops", 1, TENSORS_LAYERS / m->n_layer, &times, w) < 0
	    || key_flag(m, "skip_loop_final_norm", &plain, w) < 0 || repeat(m, times, w) < 0)
		return -1;
	loops_of(m)->normed = !plain;
	return 0;
}

static void nanbeige_layer(struct builder *b, size_t il)
{
	if (il > 0 && b->layer->block == 0 && loops_of(b->model)->normed)
		b->x = build_norm_of_model(b, b->x, "output_norm");
	decoder_layer(b, il);
}

/* HRM-Text (2026): two stacks of layers. A cycle runs the low stack several times, then the high stack once. Every run
 * reads the sum of the latest results of both stacks; at the start, the low result is a constant and the high one is
 * the embedding. */
static int hrm_text(struct model *m, struct why *w)
{
	struct loops *p = loops_of(m);
	size_t high = 1, low = 1;
	int both_ways = 0;

	if (key_required(m, "hrm.layers_per_stack", 1, m->n_layer, &p->layers, w) < 0
	    || key_required(m, "hrm.h_cycles", 1, m->n_layer, &high, w) < 0
	    || key_required(m, "hrm.l_cycles", 1, m->n_layer, &low, w) < 0
	    || key_scale(m, "embedding_scale", &m->embedding_scale, w) < 0
	    || key_flag(m, "hrm.prefix_lm", &both_ways, w) < 0)
		return -1;
	if (both_ways)
		return why(w, "%s: true: not supported", key_name(m, "hrm.prefix_lm").s);
	p->cycle = low + 1;
	if (m->n_layer % p->layers || m->n_layer / p->layers != high * p->cycle)
		return why(w, "%s: %zu, not %zu x %zu x %zu", key_name(m, "block_count").s, m->n_layer, p->layers, high,
			p->cycle);
	for (size_t il = 0; il < m->n_layer; il++) {
		m->layer[il].block = il % p->layers + (il / p->layers % p->cycle == low ? p->layers : 0);
		m->layer[il].gates = GATES_ELEMENTS;
	}
	m->embedding_carried = 1;
	return layers_check_dims(m, w);
}

/* Between the runs of a stack, x becomes the sum of the latest results of both: its own, normed, and the other's, which
 * is carried. replace: its own is carried from here on. */
static void add_other(struct builder *b, int replace)
{
	struct value *own = build_norm_of_model(b, b->x, "stack_norm"), *other = b->carried;

	if (replace)
		b->carried = own;
	b->x = build_sum(b, "stack_sum", replace ? build_copy(b, "stack_kept", own) : own, other, 0);
}

static void hrm_text_layer(struct builder *b, size_t il)
{
	const struct loops *p = loops_of(b->model);
	size_t pass = il / p->layers % p->cycle;

	if (il == 0)
		build_add_constant(b, "hrm.z_l_init");
	else if (il % p->layers == 0)
		add_other(b, pass == 0 || pass + 1 == p->cycle);
	decoder_layer(b, il);
}

const struct family families_loops[] = {
	{ .arch = "nanbeige", .norm = NORM_RMS, .read = nanbeige, .layer = nanbeige_layer },
	{ .arch = "hrm_text", .norm = NORM_RMS, .pairs = ROPE_HALVES, .read = hrm_text, .layer = hrm_text_layer,
	  .decoder = { .bare_norms = 1 } },
	{ .arch = NULL },
};
