/* What ops of several kinds share. */
#include "op.h"

#include "fwd/kernels/exp.h"

size_t op_each_row(const struct op *op, const struct step *s)
{
	return s->n;
}

void op_softmax(float *p, size_t n)
{
	float most = p[0], sum = 0;

	for (size_t i = 1; i < n; i++)
		most = p[i] > most ? p[i] : most;
	for (size_t i = 0; i < n; i++)
		sum += p[i] = exp_of(p[i] - most);
	for (size_t i = 0; i < n; i++)
		p[i] /= sum;
}
