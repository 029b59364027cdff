/* reference: an independent forward pass of our four families, in double precision, for tests only. It shares the
 * reading of the file, the dequantisers and the writing of frames with the product and nothing else: weights are
 * widened, a whole prompt goes through a layer at a time, every sum is a plain loop, nothing is cached. Formulas: the
 * families' papers (LLaMA, Qwen2, Qwen3, GPT-2), RoPE (Su et al. 2021), YaRN (Peng et al. 2023).
 *
 *	reference MODEL < ids > stream          decimal ids in, one frame of logits out: a row for every id
 *	reference -n 16 MODEL < ids             the 16 greedy ids that follow, as text */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "lib/stream/frame.h"
#include "lib/gguf/gguf.h"

enum { IDS_MAX = 4096 };

struct reference_shape {
	char arch[16];
	size_t n_vocab, n_embd, n_layer, n_head, n_head_kv, head_dim, n_rot, n_ff;
	double eps, rope_base, factor, original_ctx;
	int gpt2, yarn;
	int adjacent;           /* RoPE rotates (0,1), (2,3)...; otherwise (0, n_rot/2), (1, n_rot/2 + 1)... */
};

static const struct gguf *g;
static struct reference_shape s;
static struct why w;

static _Noreturn void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fprintf(stderr, "reference: ");
	vfprintf(stderr, format, ap);
	fprintf(stderr, "\n");
	exit(1);
}

static void *memory(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

/* ---- the file ---- */

static const char *key_of(const char *key)
{
	static char name[128];

	snprintf(name, sizeof name, "%s.%s", s.arch, key);
	return name;
}

static size_t size(const char *key, size_t otherwise)
{
	int64_t v = (int64_t)otherwise;

	if (gguf_integer(g, key_of(key), 0, 1 << 30, &v, &w) < 0)
		die("%s", w.text);
	return (size_t)v;
}

static double real(const char *key, double otherwise)
{
	if (gguf_real(g, key_of(key), &otherwise, &w) < 0)
		die("%s", w.text);
	return otherwise;
}

static void shape(void)
{
	struct gguf_string arch, scaling = { "", 0 };
	const struct gguf_tensor *embd = gguf_tensor(g, "token_embd.weight");

	if (gguf_text(g, "general.architecture", &arch, &w) != 1 || arch.n >= sizeof s.arch || !embd)
		die("no architecture or no token_embd.weight");
	memcpy(s.arch, arch.s, arch.n);
	s.gpt2 = !strcmp(s.arch, "gpt2");
	s.adjacent = !strcmp(s.arch, "llama");
	s.n_vocab = (size_t)embd->dim[1];
	s.n_embd = size("embedding_length", 0);
	s.n_layer = size("block_count", 0);
	s.n_ff = size("feed_forward_length", 0);
	s.n_head = size("attention.head_count", 1);
	s.n_head_kv = size("attention.head_count_kv", s.n_head);
	s.head_dim = size("attention.key_length", s.n_embd / s.n_head);
	s.n_rot = size("rope.dimension_count", s.head_dim);
	s.eps = real(s.gpt2 ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", 1e-5);
	s.rope_base = real("rope.freq_base", 10000);
	s.factor = real("rope.scaling.factor", 1);
	s.original_ctx = real("rope.scaling.original_context_length", (double)size("context_length", 0));
	if (gguf_text(g, key_of("rope.scaling.type"), &scaling, &w) == 1 && scaling.n == 4)
		s.yarn = !memcmp(scaling.s, "yarn", 4);
	if (scaling.n == 4 && !memcmp(scaling.s, "none", 4))
		s.factor = 1;
}

/* The tensor's n values, or NULL where there is none; free() them. */
static float *weights(size_t n, const char *format, ...)
{
	char name[64];
	const struct gguf_tensor *t;
	const struct format *f;
	float *x;
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof name, format, ap);
	va_end(ap);
	if (!(t = gguf_tensor(g, name)))
		return NULL;
	if (t->dim[0] * t->dim[1] * t->dim[2] * t->dim[3] != n)
		die("%s: %zu values expected", name, n);
	if (!(f = format_of(t->type)))
		die("%s: type %u is not read", name, (unsigned)t->type);
	x = memory(n, sizeof *x);
	format_dequantise(f, t->data, x, n);
	return x;
}

/* ---- arithmetic; n is the number of positions throughout ---- */

/* y[n][rows] = x[n][cols] · W[rows][cols] (+ bias), W and bias named PREFIX.weight and PREFIX.bias */
static double *linear(const char *prefix, const double *x, size_t n, size_t cols, size_t rows)
{
	float *weight = weights(rows * cols, "%s.weight", prefix), *bias = weights(rows, "%s.bias", prefix);
	double *y = memory(n * rows, sizeof *y);

	if (!weight)
		die("%s.weight: missing", prefix);
	for (size_t i = 0; i < n; i++)
		for (size_t r = 0; r < rows; r++) {
			double sum = bias ? bias[r] : 0;

			for (size_t c = 0; c < cols; c++)
				sum += (double)weight[r * cols + c] * x[i * cols + c];
			y[i * rows + r] = sum;
		}
	free(weight);
	free(bias);
	return y;
}

/* y[n][size]: each row normed; RMSNorm, or LayerNorm where there is a bias */
static double *norm(const char *prefix, const double *x, size_t n, size_t width)
{
	float *weight = weights(width, "%s.weight", prefix), *bias = weights(width, "%s.bias", prefix);
	double *y = memory(n * width, sizeof *y);

	if (!weight)
		die("%s.weight: missing", prefix);
	for (size_t i = 0; i < n; i++) {
		const double *a = x + i * width;
		double mean = 0, square = 0;

		for (size_t k = 0; k < width && s.gpt2; k++)
			mean += a[k] / (double)width;
		for (size_t k = 0; k < width; k++)
			square += (a[k] - mean) * (a[k] - mean) / (double)width;
		for (size_t k = 0; k < width; k++)
			y[i * width + k] = (a[k] - mean) / sqrt(square + s.eps) * weight[k] + (bias ? bias[k] : 0);
	}
	free(weight);
	free(bias);
	return y;
}

/* Turns per position of pair i, and in *length what cos and sin are multiplied by. */
static double rope_frequency(size_t i, const float *freqs, double *length)
{
	double full = pow(s.rope_base, -2.0 * (double)i / (double)s.n_rot) / (freqs ? freqs[i] : 1);
	double scaled = full / s.factor;
	double low, high, ramp, d = (double)s.n_rot, pi = acos(-1);

	*length = 1;
	if (!s.yarn)
		return scaled;
	/* Pairs that turn more than 32 times in the original context stay, those that turn less than once are scaled;
	 * in between there is a ramp. */
	low = floor(d * log(s.original_ctx / (32 * 2 * pi)) / (2 * log(s.rope_base)));
	high = ceil(d * log(s.original_ctx / (2 * pi)) / (2 * log(s.rope_base)));
	low = fmax(low, 0);
	high = fmin(high, d - 1);
	ramp = fmin(1, fmax(0, ((double)i - low) / fmax(0.001, high - low)));
	*length = 1 + 0.1 * log(s.factor);
	return full * (1 - ramp) + scaled * ramp;
}

/* x[n][heads][head_dim], rotated in place: row i is position i */
static void rope(double *x, size_t n, size_t heads)
{
	float *freqs = weights(s.n_rot / 2, "rope_freqs.weight");

	for (size_t pair = 0; pair < s.n_rot / 2; pair++) {
		double length, frequency = rope_frequency(pair, freqs, &length);
		size_t a = s.adjacent ? 2 * pair : pair, b = s.adjacent ? a + 1 : a + s.n_rot / 2;

		for (size_t i = 0; i < n; i++)
			for (size_t h = 0; h < heads; h++) {
				double *v = x + (i * heads + h) * s.head_dim, va = v[a], vb = v[b];
				double co = cos((double)i * frequency) * length;
				double si = sin((double)i * frequency) * length;

				v[a] = va * co - vb * si;
				v[b] = va * si + vb * co;
			}
	}
	free(freqs);
}

/* out[n][n_head · head_dim] = softmax(q·k / sqrt(head_dim)) v, causal; query head h reads KV head h / (n_head /
 * n_head_kv) */
static double *attention(const double *q, const double *k, const double *v, size_t n)
{
	size_t d = s.head_dim, group = s.n_head / s.n_head_kv;
	double *out = memory(n * s.n_head * d, sizeof *out), *p = memory(n, sizeof *p);

	for (size_t i = 0; i < n; i++)
		for (size_t h = 0; h < s.n_head; h++) {
			const double *qh = q + (i * s.n_head + h) * d;
			double most = -INFINITY, sum = 0;

			for (size_t j = 0; j <= i; j++) {
				p[j] = 0;
				for (size_t e = 0; e < d; e++)
					p[j] += qh[e] * k[(j * s.n_head_kv + h / group) * d + e];
				p[j] /= sqrt((double)d);
				most = fmax(most, p[j]);
			}
			for (size_t j = 0; j <= i; j++)
				sum += p[j] = exp(p[j] - most);
			for (size_t j = 0; j <= i; j++)
				for (size_t e = 0; e < d; e++)
					out[(i * s.n_head + h) * d + e] +=
						p[j] / sum * v[(j * s.n_head_kv + h / group) * d + e];
		}
	free(p);
	return out;
}

/* ---- a layer ---- */

static const char *part(size_t layer, const char *what)
{
	static char name[64];

	snprintf(name, sizeof name, "blk.%zu.%s", layer, what);
	return name;
}

static void add(double *x, double *branch, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] += branch[i];
	free(branch);
}

/* Columns [from, from + width) of x[n][stride], as a matrix of its own. */
static double *columns(const double *x, size_t n, size_t stride, size_t from, size_t width)
{
	double *y = memory(n * width, sizeof *y);

	for (size_t i = 0; i < n; i++)
		memcpy(y + i * width, x + i * stride + from, width * sizeof *y);
	return y;
}

static double *attention_block(size_t il, const double *x, size_t n)
{
	size_t n_q = s.n_head * s.head_dim, n_kv = s.n_head_kv * s.head_dim;
	double *q, *k, *v, *out, *projected, *normed;

	if (s.gpt2) {
		double *qkv = linear(part(il, "attn_qkv"), x, n, s.n_embd, n_q + 2 * n_kv);

		q = columns(qkv, n, n_q + 2 * n_kv, 0, n_q);
		k = columns(qkv, n, n_q + 2 * n_kv, n_q, n_kv);
		v = columns(qkv, n, n_q + 2 * n_kv, n_q + n_kv, n_kv);
		free(qkv);
	} else {
		q = linear(part(il, "attn_q"), x, n, s.n_embd, n_q);
		k = linear(part(il, "attn_k"), x, n, s.n_embd, n_kv);
		v = linear(part(il, "attn_v"), x, n, s.n_embd, n_kv);
		if (!strcmp(s.arch, "qwen3")) {
			normed = norm(part(il, "attn_q_norm"), q, n * s.n_head, s.head_dim);
			free(q);
			q = normed;
			normed = norm(part(il, "attn_k_norm"), k, n * s.n_head_kv, s.head_dim);
			free(k);
			k = normed;
		}
		rope(q, n, s.n_head);
		rope(k, n, s.n_head_kv);
	}
	out = attention(q, k, v, n);
	projected = linear(part(il, "attn_output"), out, n, n_q, s.n_embd);
	free(q);
	free(k);
	free(v);
	free(out);
	return projected;
}

static double *ffn_block(size_t il, const double *x, size_t n)
{
	double *up = linear(part(il, "ffn_up"), x, n, s.n_embd, s.n_ff), *down;

	if (s.gpt2) {           /* GELU, the tanh form */
		for (size_t i = 0; i < n * s.n_ff; i++)
			up[i] *= 0.5 * (1 + tanh(sqrt(2 / acos(-1)) * (up[i] + 0.044715 * up[i] * up[i] * up[i])));
	} else {                /* SwiGLU */
		double *gate = linear(part(il, "ffn_gate"), x, n, s.n_embd, s.n_ff);

		for (size_t i = 0; i < n * s.n_ff; i++)
			up[i] *= gate[i] / (1 + exp(-gate[i]));
		free(gate);
	}
	down = linear(part(il, "ffn_down"), up, n, s.n_ff, s.n_embd);
	free(up);
	return down;
}

/* x[n][n_embd] of the ids at positions 0 to n-1 */
static double *embedded(const int *ids, size_t n)
{
	float *embd = weights(s.n_vocab * s.n_embd, "token_embd.weight"), *position = NULL;
	double *x = memory(n * s.n_embd, sizeof *x);

	if (s.gpt2 && !(position = weights(size("context_length", 0) * s.n_embd, "position_embd.weight")))
		die("position_embd.weight: missing");
	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < s.n_embd; e++)
			x[i * s.n_embd + e] = embd[(size_t)ids[i] * s.n_embd + e]
				+ (position ? (double)position[i * s.n_embd + e] : 0);
	free(embd);
	free(position);
	return x;
}

/* logits[n][n_vocab]; free() them */
static double *forward(const int *ids, size_t n)
{
	double *x = embedded(ids, n), *normed, *logits;

	for (size_t il = 0; il < s.n_layer; il++) {
		normed = norm(part(il, "attn_norm"), x, n, s.n_embd);
		add(x, attention_block(il, normed, n), n * s.n_embd);
		free(normed);
		normed = norm(part(il, "ffn_norm"), x, n, s.n_embd);
		add(x, ffn_block(il, normed, n), n * s.n_embd);
		free(normed);
	}
	normed = norm("output_norm", x, n, s.n_embd);
	logits = linear(gguf_tensor(g, "output.weight") ? "output" : "token_embd", normed, n, s.n_embd, s.n_vocab);
	free(x);
	free(normed);
	return logits;
}

static int best(const double *logits)
{
	size_t b = 0;

	for (size_t i = 1; i < s.n_vocab; i++)
		if (logits[i] > logits[b])
			b = i;
	return (int)b;
}

static void write_logits(const int *ids, size_t n)
{
	struct frame f = { FRAME_LOGITS, (uint32_t)n, (uint32_t)s.n_vocab, FRAME_F32, 0, 0, 0 };
	double *logits = forward(ids, n);
	float *rounded = memory(n * s.n_vocab, sizeof *rounded);

	for (size_t i = 0; i < n * s.n_vocab; i++)
		rounded[i] = (float)logits[i];
	if (frame_write(1, &f, rounded, &w))
		die("%s", w.text);
	free(logits);
	free(rounded);
}

int main(int argc, char **argv)
{
	size_t greedy = argc == 4 && !strcmp(argv[1], "-n") ? (size_t)atoi(argv[2]) : 0, n = 0;
	static int ids[IDS_MAX];
	struct gguf *file;

	if (argc != (greedy ? 4 : 2))
		die("usage: reference [-n N] MODEL < ids");
	if (!(file = gguf_open(argv[argc - 1], 1, &w)))
		die("%s", w.text);
	g = file;
	shape();
	while (n < IDS_MAX && scanf("%d", &ids[n]) == 1)
		if (ids[n] < 0 || (size_t)ids[n++] >= s.n_vocab)
			die("id outside the vocabulary");
	for (size_t i = 0; i < greedy && n < IDS_MAX; i++) {
		double *logits = forward(ids, n);

		ids[n] = best(logits + (n - 1) * s.n_vocab);
		printf("%d%c", ids[n++], i + 1 < greedy ? ' ' : '\n');
		free(logits);
	}
	if (!greedy && n)
		write_logits(ids, n);
	gguf_close(file);
	return fflush(stdout) != 0;
}
