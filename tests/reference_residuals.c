/* reference_residuals: attention residuals (Moonshot 2026). After each block of layers, the residual stream is banked
 * and starts again from zero; each branch reads a weighted sum of the banked streams and the current one. */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *recalled(const char *score, const double *x, size_t n)
{
	size_t all = n * m.n_embd;
	float *weight = weights(&m, m.n_embd, "%s.weight", score);
	double *y = memory(all, sizeof *y), p[REFERENCE_LAYERS + 1];

	if (!weight)
		die("%s.weight: missing", score);
	for (size_t i = 0; i < all; i += m.n_embd) {
		for (size_t j = 0; j <= m.n_block; j++) {
			double *row = copy((j < m.n_block ? m.block[j] : x) + i, m.n_embd);

			bare_norm_rows(row, 1, m.n_embd);
			p[j] = 0;
			for (size_t e = 0; e < m.n_embd; e++)
				p[j] += row[e] * weight[e];
			free(row);
		}
		softmax(p, m.n_block + 1);
		for (size_t j = 0; j <= m.n_block; j++)
			for (size_t e = i; e < i + m.n_embd; e++)
				y[e] += p[j] * (j < m.n_block ? m.block[j] : x)[e];
	}
	free(weight);
	return y;
}

/* The same over the embedding and x after each block so far. */
void recall_blocks(size_t il, double *x, size_t n)
{
	float *gate = weights(&m, 1, "blk.%zu.attn_res_gate.weight", il);
	double *sum;

	m.n_block = il ? m.n_block : 0;
	if (il % m.recalled_layers == 0) {
		free(m.block[m.n_block]);
		m.block[m.n_block++] = copy(x, n * m.n_embd);
	}
	sum = recalled(part(il, "attn_res_score"), x, n);
	for (size_t i = 0; i < n * m.n_embd; i++)
		x[i] += *gate * (sum[i] - x[i]);
	free(sum);
	free(gate);
}

void residuals_layer(size_t il, double *x, size_t n)
{
	double *h;

	m.n_block = il ? m.n_block : 0;
	h = recalled(part(il, "attn_res_score"), x, n);
	if (il % m.block_layers == 0) {
		free(m.block[m.n_block]);
		m.block[m.n_block++] = copy(x, n * m.n_embd);
		memset(x, 0, n * m.n_embd * sizeof *x);
	}
	norm_in_place(part(il, "attn_norm"), h, n, m.n_embd);
	add(x, (has(il, "ssm_f_a") ? kda : attention_part)(il, h, n), n);
	free(h);
	h = recalled(part(il, "ffn_res_score"), x, n);
	norm_in_place(part(il, "ffn_norm"), h, n, m.n_embd);
	add(x, feed_forward_part(il, h, h, n), n);
	free(h);
}
