/* reference_embed: from the last layer to an embedding, or to the scores of a pair of texts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/stream/frame.h"
#include "reference_parts.h"

/* The row or the mean that a text's rows x[n][n_embd] become. Frees x. */
static double *pooled(double *x, size_t n, uint32_t pooling)
{
	int first = pooling == POOLING_CLS || (pooling == POOLING_RANK && m.rules->ranks == RANKS_FIRST);
	int last = pooling == POOLING_LAST || (pooling == POOLING_RANK && m.rules->ranks == RANKS_LAST);
	double *y = memory(m.n_embd, sizeof *y);

	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < m.n_embd; e++)
			if (first ? !i : last ? i + 1 == n : 1)
				y[e] += x[i * m.n_embd + e] / (first || last ? 1 : (double)n);
	free(x);
	return y;
}

static double *replaced(double *x, double *y)
{
	free(x);
	return y;
}

/* The rank head of a row x. Frees it. */
static double *ranked(double *x, size_t *labels)
{
	size_t ends = n_weights(&m, "cls.output.weight") / m.n_embd, n = m.n_embd;

	if (n_weights(&m, "cls.weight")) {
		n = n_weights(&m, "cls.weight") / m.n_embd;
		x = replaced(x, linear("cls", x, 1, m.n_embd, n));
		for (size_t e = 0; e < n; e++)
			x[e] = m.rules->ranks == RANKS_MEAN ? gelu(x[e]) : tanh(x[e]);
	}
	if (n_weights(&m, "cls.norm.weight"))
		norm_in_place("cls.norm", x, 1, n);
	if (ends)
		x = replaced(x, linear("cls.output", x, 1, n, ends));
	*labels = ends ? ends : n;
	if (m.rules->ranks == RANKS_LAST)
		softmax(x, *labels);
	return x;
}

double *embedding(double *x, size_t n, uint32_t pooling, size_t *rows, size_t *cols)
{
	const char *last = m.rules->last_norm ? m.rules->last_norm : "output_norm";
	size_t wide = n_weights(&m, "dense_2.weight") / m.n_embd, out = wide;

	if (*last)
		norm_in_place(last, x, n, m.n_embd);
	*rows = pooling == POOLING_NONE ? n : 1;
	*cols = m.n_embd;
	if (pooling != POOLING_NONE)
		x = pooled(x, n, pooling);
	if (pooling == POOLING_RANK)
		return ranked(x, cols);
	if (!wide)
		return x;
	x = replaced(x, linear("dense_2", x, *rows, m.n_embd, wide));
	if (n_weights(&m, "dense_3.weight")) {
		out = n_weights(&m, "dense_3.weight") / wide;
		x = replaced(x, linear("dense_3", x, *rows, wide, out));
	}
	*cols = out;
	return x;
}
