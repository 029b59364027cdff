/* reference_streams: per-layer inputs (Gemma 3n and 4), and AltUp, alternating updates of several residual streams
 * (Gemma 3n). */
#include "reference_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 64 };             /* rank of the low-rank branch */

double *layer_inputs(const int *ids, const double *x, size_t n)
{
	size_t p = m.n_per_layer, all = p * m.n_layer;
	double *y = linear("per_layer_model_proj", x, n, m.n_embd, all);
	float *of_id = weights(&m, m.n_vocab * all, "per_layer_token_embd.weight");

	for (size_t i = 0; i < n * all; i++)
		y[i] /= sqrt((double)m.n_embd);
	norm_in_place("per_layer_proj_norm", y, n * m.n_layer, p);
	for (size_t i = 0; i < n * all; i++)
		y[i] = (y[i] + of_id[(size_t)ids[i / all] * all + i % all] * sqrt((double)p)) / sqrt(2);
	free(of_id);
	return y;
}

double *own_input_part(size_t il, const double *inputs, const double *x, size_t n)
{
	size_t p = m.n_per_layer;
	double *gate = linear(part(il, "inp_gate"), x, n, m.n_embd, p), *y;

	for (size_t i = 0; i < n * p; i++)
		gate[i] = gated(gate[i], inputs[i / p * p * m.n_layer + il * p + i % p], 0);
	y = linear(part(il, "proj"), gate, n, p, m.n_embd);
	norm_in_place(part(il, "post_norm"), y, n, m.n_embd);
	free(gate);
	return y;
}

/* Scales each row of y[n][n_embd] to the length of the same row of x. */
static void level(double *y, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double of_x = 0, of_y = 0;

		for (size_t e = i * m.n_embd; e < (i + 1) * m.n_embd; e++) {
			of_x += x[e] * x[e];
			of_y += y[e] * y[e];
		}
		for (size_t e = i * m.n_embd; e < (i + 1) * m.n_embd; e++)
			y[e] *= sqrt(of_x / of_y);
	}
}

/* Matrix j of NAME times x[n][n_embd], scaled to the length of `like`. */
static double *projected(const char *name, size_t j, const double *x, const double *like, size_t n)
{
	size_t size = m.n_embd * m.n_embd;
	float *w = weights(&m, (m.n_streams - 1) * size, "%s.weight", name);
	double *y = memory(n * m.n_embd, sizeof *y);

	if (!w)
		die("%s.weight: missing", name);
	product(y, w + j * size, NULL, x, n, m.n_embd, m.n_embd);
	level(y, like, n);
	free(w);
	return y;
}

double *streams_of(const double *x, size_t n)
{
	size_t size = n * m.n_embd;
	double *streams = memory(m.n_streams * size, sizeof *streams), *y;

	memcpy(streams, x, size * sizeof *x);
	for (size_t j = 1; j < m.n_streams; j++) {
		y = projected("altup_proj", j - 1, x, x, n);
		memcpy(streams + j * size, y, size * sizeof *y);
		free(y);
	}
	return streams;
}

double *united(double *streams, size_t n)
{
	size_t size = n * m.n_embd;
	double *x = copy(streams, size), *y;

	for (size_t j = 1; j < m.n_streams; j++) {
		y = projected("altup_unembd_proj", j - 1, streams + j * size, streams, n);
		add(x, y, n);
	}
	for (size_t i = 0; i < size; i++)
		x[i] /= (double)m.n_streams;
	free(streams);
	return x;
}

/* Returns [n][rows]: tensor NAME times the router's output for each row of x[n][n_embd]. */
static double *coefficients(size_t il, const char *name, const double *x, size_t n, size_t rows)
{
	double *z = copy(x, n * m.n_embd), *modes, *y;

	norm_in_place(part(il, "altup_router_norm"), z, n, m.n_embd);
	for (size_t i = 0; i < n * m.n_embd; i++)
		z[i] /= (double)m.n_embd;
	modes = linear(part(il, "altup_router"), z, n, m.n_embd, m.n_streams);
	for (size_t i = 0; i < n * m.n_streams; i++)
		modes[i] = tanh(modes[i]);
	y = linear(part(il, name), modes, n, m.n_streams, rows);
	free(z);
	free(modes);
	return y;
}

static double *predicted(size_t il, const double *streams, size_t n)
{
	size_t k = m.n_streams, size = n * m.n_embd;
	double *c = coefficients(il, "altup_predict_coef", streams, n, k * k), *y = copy(streams, k * size);

	for (size_t o = 0; o < k; o++)
		for (size_t j = 0; j < k; j++)
			for (size_t i = 0; i < size; i++)
				y[o * size + i] += c[i / m.n_embd * k * k + o * k + j] * streams[j * size + i];
	free(c);
	return y;
}

/* Attention plus the low-rank branch (Laurel). */
static double *attended(size_t il, const double *x, size_t n)
{
	size_t size = n * m.n_embd;
	double *h = copy(x, size), *low, *y, *sum = copy(x, size);

	norm_in_place(part(il, "attn_norm"), h, n, m.n_embd);
	low = linear(part(il, "laurel_l"), h, n, m.n_embd, RANK);
	y = linear(part(il, "laurel_r"), low, n, RANK, m.n_embd);
	norm_in_place(part(il, "laurel_post_norm"), y, n, m.n_embd);
	add(sum, y, n);
	add(sum, attention_part(il, h, n), n);
	add(sum, h, n);
	for (size_t i = 0; i < size; i++)
		sum[i] /= sqrt(2);
	free(low);
	return sum;
}

void streams_layer(size_t il, double *streams, const double *inputs, size_t n)
{
	size_t k = m.n_streams, size = n * m.n_embd;
	double *to = predicted(il, streams, n), *x = attended(il, to, n), *h = copy(x, size), *c;
	float *scale = weights(&m, m.n_embd, "%s.weight", part(il, "altup_correct_scale"));

	norm_in_place(part(il, "ffn_norm"), h, n, m.n_embd);
	add(x, feed_forward_part(il, h, x, n), n);
	c = coefficients(il, "altup_correct_coef", x, n, k);
	for (size_t o = 0; o < k; o++)
		for (size_t i = 0; i < size; i++)
			streams[o * size + i] = to[o * size + i] + (1 + c[i / m.n_embd * k + o]) * (x[i] - to[i]);
	for (size_t i = 0; i < size; i++)
		x[i] = streams[i] * scale[i % m.n_embd];
	free(h);
	h = own_input_part(il, inputs, x, n);
	for (size_t o = 1; o < k; o++)
		for (size_t i = 0; i < size; i++)
			streams[o * size + i] += h[i];
	free(to);
	free(x);
	free(h);
	free(c);
	free(scale);
}
