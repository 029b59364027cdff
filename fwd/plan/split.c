/* Dividing a model among plans: which cuts are possible, and the rows that pass from plan to plan. */
#include "split.h"

#include <string.h>

#include "lib/base/size.h"
#include "fwd/model/diffusion.h"
#include "fwd/model/encoder.h"

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
static int check_cut(struct model *m, size_t at, struct why *w)
{
	size_t shared = first_shared(m);

	if (encoder_of(m)->n_layer)
		return why(w, "cannot be divided: the model has an encoder");
	if (diffusion_of(m)->on)
		return why(w, "cannot be divided: a diffusion model evaluates all positions again at each step");
	if (at <= shared || shared == m->n_layer)
		return 0;
	if (!shared)
		return why(w, "cannot be divided before layer %zu, nor elsewhere: later layers read K and V of layer 0",
			at);
	return why(w,
		"cannot be divided before layer %zu, only before 1 to %zu: later layers read K and V of layer %zu", at,
		shared, shared);
}

int split_check(struct model *m, size_t first, size_t last, struct why *w)
{
	if (first >= last || last > m->n_layer)
		return why(w, "no layer %zu: the model has layers 0 to %zu", size_max(first, last - 1), m->n_layer - 1);
	if (last < m->n_layer && check_cut(m, last, w) < 0)
		return -1;
	return first ? check_cut(m, first, w) : 0;
}

/* ---- rows ---- */

void split_take(struct plan *p, size_t row, size_t n, const float *hidden)
{
	for (size_t i = row; i < row + n; i++)
		for (size_t j = 0; j < p->in.parts; hidden += p->in.n[j++])
			memcpy(buffer_row(&p->in.rows[j], i), hidden, p->in.n[j] * sizeof *hidden);
}

void split_give(const struct plan *p, size_t row, size_t n, float *hidden)
{
	for (size_t i = row; i < row + n; i++)
		for (size_t j = 0; j < p->out.parts; hidden += p->out.n[j++])
			memcpy(hidden, buffer_row(&p->out.rows[j], i), p->out.n[j] * sizeof *hidden);
}
