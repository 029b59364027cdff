/* attn_res: attention over the results of earlier blocks of layers. A work item is a row. */
#include "kinds.h"

#include <math.h>
#include <string.h>

/* The sum of norm(x[n]) · weights. */
static float score(const struct op_attn_res *o, const float *x)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < o->n; i++) {
		sum += (double)x[i] * (double)o->weight[i];
		square += (double)x[i] * (double)x[i];
	}
	return (float)(sum / sqrt(square / (double)o->n + (double)o->eps));
}

static void attend_blocks(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_attn_res *o = op->bound;
	const float *x = buffer_row(&o->x, row);
	float *to = buffer_row(&o->out, row), *p = buffer_row(&o->scores, row);

	for (size_t i = 0; i <= o->blocks; i++)
		p[i] = score(o, x + i * o->n);
	op_softmax(p, o->blocks + 1);
	for (size_t i = 0; i <= o->blocks; i++)
		p[i] *= o->gate;
	p[0] += 1 - o->gate;
	s->k->scale(to, x, p[0], o->n);
	for (size_t i = 1; i <= o->blocks; i++)
		s->k->add_scaled(to, x + i * o->n, p[i], o->n);
}

static void bank(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_attn_res *o = op->bound;
	float *x = buffer_row(&o->x, row);

	memcpy(x + o->blocks * o->n, x, o->n * sizeof *x);
	memset(x, 0, o->n * sizeof *x);
}

const struct op_kind op_attn_res = { .name = "attn_res", .items = op_each_row, .item = attend_blocks };
const struct op_kind op_bank = { .name = "bank", .items = op_each_row, .item = bank };
