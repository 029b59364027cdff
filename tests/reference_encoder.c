/* reference_encoder: an encoder and the decoder that reads its result (Raffel et al. 2020). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reference_parts.h"

/* The stack that is being run, "enc" or "dec", and the layer. */
static const char *stack;
static size_t il;

static const char *tensor(const char *what)
{
	static char name[64];

	snprintf(name, sizeof name, "%s.blk.%zu.%s", stack, il, what);
	return name;
}

static double *normed(const char *what, const double *x, size_t n)
{
	double *y = copy(x, n * m.n_embd);

	norm_in_place(tensor(what), y, n, m.n_embd);
	return y;
}

/* The bucket of a key at this distance from the query. Limits of buckets may be integers: logarithms get a margin. */
static size_t bucket(long distance)
{
	int text = *stack == 'e';
	size_t n = text ? m.buckets / 2 : m.buckets, exact = n / 2, d = (size_t)labs(distance), b;

	if (!text && distance > 0)
		d = 0;
	b = d < exact ? d : exact + (size_t)(log((double)d / (double)exact) / log(128.0 / (double)exact)
		* (double)(n - exact) + 1e-7);
	return (b < n ? b : n - 1) + (text && distance > 0 ? n : 0);
}

/* The scores of the rows' biases, [buckets][n_head], of this stack. */
static float *biases(void)
{
	size_t all = m.buckets * m.n_head;
	float *own = weights(&m, all, "%s.weight", tensor("attn_rel_b"));

	return own ? own : weights(&m, all, "%s.blk.0.attn_rel_b.weight", stack);
}

/* How far row i of nq sees among n positions. */
static size_t sees(size_t i, size_t n, int causal)
{
	return causal ? i + 1 : n;
}

/* One head: q[nq] reads k and v[n]. bias NULL: none. out: this head's columns. */
static void head(const double *q, size_t nq, const double *k, const double *v, size_t n, size_t h, const float *bias,
	double *out)
{
	size_t width = m.n_head * m.head_dim, kv_width = m.n_head_kv * m.head_dim, d = m.head_dim;
	size_t kv = h / (m.n_head / m.n_head_kv) * d;
	double *p = memory(n, sizeof *p);

	for (size_t i = 0; i < nq; i++) {
		size_t end = sees(i, n, bias && *stack == 'd');

		for (size_t j = 0; j < end; j++) {
			p[j] = bias ? (double)bias[bucket((long)j - (long)i) * m.n_head + h] : 0;
			for (size_t e = 0; e < d; e++)
				p[j] += q[i * width + h * d + e] * k[j * kv_width + kv + e];
		}
		softmax(p, end);
		for (size_t j = 0; j < end; j++)
			for (size_t e = 0; e < d; e++)
				out[i * width + h * d + e] += p[j] * v[j * kv_width + kv + e];
	}
	free(p);
}

/* The matrix PREFIX and a letter, applied to x. */
static double *projected(const char *prefix, char letter, const double *x, size_t n, size_t cols, size_t rows)
{
	char what[32];

	snprintf(what, sizeof what, "%s%c", prefix, letter);
	return linear(tensor(what), x, n, cols, rows);
}

/* The branch of rows x[nq] that attend to rows y[n]. */
static double *attention(const char *prefix, const double *x, size_t nq, const double *y, size_t n, int biased)
{
	size_t width = m.n_head * m.head_dim, kv_width = m.n_head_kv * m.head_dim;
	double *q = projected(prefix, 'q', x, nq, m.n_embd, width);
	double *k = projected(prefix, 'k', y, n, m.n_embd, kv_width);
	double *v = projected(prefix, 'v', y, n, m.n_embd, kv_width);
	double *out = memory(nq * width, sizeof *out), *branch;
	float *bias = biased ? biases() : NULL;

	for (size_t h = 0; h < m.n_head; h++)
		head(q, nq, k, v, n, h, bias, out);
	branch = projected(prefix, 'o', out, nq, width, m.n_embd);
	free(q);
	free(k);
	free(v);
	free(out);
	free(bias);
	return branch;
}

static double *feed_forward(const double *x, size_t n)
{
	double *up = linear(tensor("ffn_up"), x, n, m.n_embd, m.n_ff), *gate, *down;

	if (n_weights(&m, "%s.weight", tensor("ffn_gate"))) {
		gate = linear(tensor("ffn_gate"), x, n, m.n_embd, m.n_ff);
		for (size_t i = 0; i < n * m.n_ff; i++)
			up[i] *= activation(NULL, gate[i]);
		free(gate);
	} else
		for (size_t i = 0; i < n * m.n_ff; i++)
			up[i] = fmax(up[i], 0);
	down = linear(tensor("ffn_down"), up, n, m.n_ff, m.n_embd);
	free(up);
	return down;
}

/* Runs the layers of a stack on x[n]; text[n_text] is the encoder's result, for the decoder. */
static void run(const char *name, size_t layers, double *x, size_t n, const double *text, size_t n_text)
{
	double *h;

	stack = name;
	for (il = 0; il < layers; il++) {
		h = normed("attn_norm", x, n);
		add(x, attention("attn_", h, n, h, n, 1), n);
		free(h);
		if (text) {
			h = normed("cross_attn_norm", x, n);
			add(x, attention("cross_attn_", h, n, text, n_text, 0), n);
			free(h);
		}
		h = normed("ffn_norm", x, n);
		add(x, feed_forward(h, n), n);
		free(h);
	}
}

size_t text_end(const int *ids, size_t n)
{
	size_t end = 0;

	while (m.encoder_layers && end < n && ids[end] != m.text_ends)
		end++;
	if (end == n)
		die("no id ends the encoder's text");
	return end;
}

double *decoded(const int *ids, size_t n, size_t layers)
{
	size_t end = text_end(ids, n);
	double *text = embedded(ids, end + 1), *x;
	int *answer = memory(n - end, sizeof *answer);

	for (size_t i = 0; i < n - end; i++)
		answer[i] = i ? ids[end + i] : m.answer_starts;
	run("enc", m.encoder_layers, text, end + 1, NULL, 0);
	norm_in_place("enc.output_norm", text, end + 1, m.n_embd);
	x = embedded(answer, n - end);
	run("dec", layers, x, n - end, text, end + 1);
	free(text);
	free(answer);
	return x;
}

double *encoded(const int *ids, size_t n, size_t layers)
{
	double *x = embedded(ids, n);

	run("enc", layers, x, n, NULL, 0);
	return x;
}
