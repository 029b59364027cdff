/* linear_gates: norms, decays and betas of the rows of linear attention (linear.h). A work item is a row. */
#include "linear.h"

#include <string.h>

static void norm_heads(const struct op_linear *o, const struct kernels *k, const struct norm *norm, float *x)
{
	for (size_t head = 0; norm->kind && head < o->n_head_k; head++)
		k->norm(norm, x + head * o->dim_k, x + head * o->dim_k, o->dim_k);
}

static void item(const struct op *op, const struct step *s, size_t row, size_t thread)
{
	const struct op_linear *o = op->bound;
	float *decay = buffer_row(&o->decay, row), *beta = buffer_row(&o->beta, row);
	size_t n = o->n_head * linear_decays(o);

	norm_heads(o, s->k, &o->q_norm, buffer_row(&o->q, row));
	norm_heads(o, s->k, &o->k_norm, buffer_row(&o->k, row));
	if (o->constant) {
		memcpy(decay, o->a, n * sizeof *decay);
		for (size_t i = 0; i < n; i++)
			beta[i] = 1;
		return;
	}
	if (o->delta)
		s->k->unary(UNARY_SIGMOID, beta, beta, o->n_head);
	if (o->bias)
		s->k->add(decay, decay, o->bias, n);
	if (o->lower_bound < 0) {
		s->k->multiply(decay, decay, o->a, n);
		s->k->unary(UNARY_SIGMOID, decay, decay, n);
		s->k->scale(decay, decay, o->lower_bound, n);
		return;
	}
	s->k->unary(UNARY_SOFTPLUS, decay, decay, n);
	if (!o->delta)
		memcpy(beta, decay, n * sizeof *beta);
	s->k->multiply(decay, decay, o->a, n);
}

static void uses(void *bound, struct uses *u)
{
	struct op_linear *o = bound;
	size_t keys = o->n_head_k * o->dim_k;

	u->rows(u, &o->q, keys, o->q_norm.kind ? USE_CHANGE : USE_READ);
	u->rows(u, &o->k, keys, o->k_norm.kind ? USE_CHANGE : USE_READ);
	u->rows(u, &o->decay, o->n_head * linear_decays(o), o->constant ? USE_MAKE : USE_CHANGE);
	u->rows(u, &o->beta, o->n_head, o->delta ? USE_CHANGE : USE_MAKE);
}

const struct op_kind op_linear_gates = { .name = "linear_gates", .uses = uses, .items = op_each_row, .item = item };
