/* Dividing a model among plans: which cuts are possible, rows that pass from plan to plan, and their common state
 * rules. */
#include "split.h"

#include <string.h>

#include "lib/base/size.h"

/* The first layer whose K and V later layers read; n_layer: none. */
static size_t first_shared(const struct model *m)
{
	size_t first = m->n_layer;

	for (size_t il = 0; il < m->n_layer; il++)
		if (m->layer[il].kv)
			first = size_min(first, (size_t)(m->layer[il].kv - m->layer));
	return first;
}

/* Whether the model can be divided before layer `at`. */
static int check_cut(const struct model *m, size_t at, struct why *w)
{
	size_t shared = first_shared(m);

	if (m->encoder.n_layer)
		return why(w, "cannot be divided: the model has an encoder");
	if (m->diffusion)
		return why(w, "cannot be divided: a diffusion model evaluates all positions again at each step");
	if (m->layer[at].sparse == SEES_CHOSEN)
		return why(w, "cannot be divided before layer %zu: it uses the choice of an earlier layer's indexer",
			at);
	if (at <= shared || shared == m->n_layer)
		return 0;
	if (!shared)
		return why(w, "cannot be divided before layer %zu, nor elsewhere: later layers read K and V of layer 0",
			at);
	return why(w,
		"cannot be divided before layer %zu, only before 1 to %zu: later layers read K and V of layer %zu", at,
		shared, shared);
}

int split_check(const struct model *m, size_t first, size_t last, struct why *w)
{
	if (first >= last || last > m->n_layer)
		return why(w, "no layer %zu: the model has layers 0 to %zu", size_max(first, last - 1), m->n_layer - 1);
	if (last < m->n_layer && check_cut(m, last, w) < 0)
		return -1;
	return first ? check_cut(m, first, w) : 0;
}

/* ---- rows ---- */

/* At most this many buffers pass from plan to plan before a layer, one after the other in a row. */
enum { PASSED = 3 };

struct passed {
	struct buffer buffer[PASSED];
	size_t n[PASSED];
};

static struct passed passed_at(const struct plan *p, size_t layer)
{
	size_t inputs = layer * p->model->n_per_layer;
	struct buffer per_layer = { .at = p->per_layer.at + inputs, .stride = p->per_layer.stride };

	return (struct passed){ { p->x, p->carried, per_layer },
		{ p->x.stride, p->carried.stride, p->per_layer.stride - inputs } };
}

size_t split_width(const struct plan *p, size_t layer)
{
	const struct passed passed = passed_at(p, layer);

	return passed.n[0] + passed.n[1] + passed.n[2];
}

void split_take(struct plan *p, size_t row, size_t n, const float *hidden)
{
	const struct passed passed = passed_at(p, p->setup.first);

	for (size_t i = row; i < row + n; i++)
		for (size_t j = 0; j < PASSED; hidden += passed.n[j++])
			memcpy(buffer_row(&passed.buffer[j], i), hidden, passed.n[j] * sizeof *hidden);
}

void split_give(const struct plan *p, size_t row, size_t n, float *hidden)
{
	const struct passed passed = passed_at(p, p->setup.last);

	for (size_t i = row; i < row + n; i++)
		for (size_t j = 0; j < PASSED; hidden += passed.n[j++])
			memcpy(hidden, buffer_row(&passed.buffer[j], i), passed.n[j] * sizeof *hidden);
}

/* ---- states ---- */

/* Raises a size to `least`, for something that the model has but no layer of this plan. */
static void at_least(size_t *n, size_t least)
{
	*n = size_max(*n, least);
}

void split_state(struct plan *p)
{
	const struct model *m = p->model;
	const size_t range[] = { p->setup.first, p->setup.last };
	unsigned mixers = 0;
	size_t window = 0;

	if (p->setup.last - p->setup.first == m->n_layer)
		return;
	for (const struct layer *l = m->layer; l < m->layer + m->n_layer; l++) {
		mixers |= l->mixers;
		if (l->mixers & MIXER_ATTENTION)
			window = size_max(window, layer_window(l));
	}
	p->layout = gguf_hash(range, sizeof range, p->layout);
	p->window = window;
	for (int type = 0; window && type < KV_TYPES; type++)
		at_least(&p->recent_bytes[type], 64);
	if (mixers & ~(unsigned)(MIXER_ATTENTION | MIXER_PRODUCT))
		at_least(&p->state_floats, 64 / sizeof(float));
	if (mixers & (MIXER_CONVOLUTION | MIXER_DELTA | MIXER_KDA | MIXER_MAMBA | MIXER_MAMBA2 | MIXER_PLAMO2
	    | MIXER_LIGHTNING | MIXER_COMPRESSED))
		at_least(&p->row_bytes, 1);
	if (mixers & (MIXER_MAMBA | MIXER_RWKV6 | MIXER_RWKV7))
		p->keeps_current = 1;
}
