/* The tensors of a layer are found by name and checked. */
#include "build.h"

#include <stdio.h>
#include <string.h>

#include "fwd/model/layers.h"

struct tensor_name build_name(const struct builder *b, const char *name, const char *suffix)
{
	const char *other = b->model->family->attn_output;
	struct tensor_name n;

	if (other && !strcmp(name, "attn_output"))
		name = other;
	if (b->il == OP_NO_LAYER)
		snprintf(n.s, sizeof n.s, "%s.%s", name, suffix);
	else
		snprintf(n.s, sizeof n.s, "%sblk.%zu.%s%s%s", b->stack, b->layer->block, name, *suffix ? "." : "",
			suffix);
	return n;
}

const char *build_suffix(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "").s) ? "" : "weight";
}

void build_matrices(struct builder *b, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out)
{
	const char *in_file = build_suffix(b, name);

	if (!build_failed(b) && model_matrices(b->model, build_name(b, name, in_file).s, n, rows, cols, out, b->w) < 0)
		b->graph.failed = -1;
}

const float *build_table(struct builder *b, const char *name, const char *suffix, size_t rows, size_t cols)
{
	const float *v = NULL;

	if (!build_failed(b) && model_table(b->model, build_name(b, name, suffix).s, rows, cols, &v, b->w) < 0)
		b->graph.failed = -1;
	return v;
}

const float *build_vector(struct builder *b, const char *name, const char *suffix, size_t n)
{
	return build_table(b, name, suffix, 1, n);
}

const float *build_transposed(struct builder *b, const char *name, const char *suffix, size_t n, size_t cols)
{
	const float *from = build_table(b, name, suffix, n, cols);
	float *to = build_allocate(b, n * cols * sizeof *to);

	for (size_t i = 0; from && to && i < n * cols; i++)
		to[i % cols * n + i / cols] = from[i];
	return to;
}

const float *build_repeated(struct builder *b, const float *x, size_t n, size_t times)
{
	float *y = x ? build_allocate(b, n * times * sizeof *y) : NULL;

	for (size_t i = 0; y && i < n * times; i++)
		y[i] = x[i / times];
	return y;
}

const float *build_tiled(struct builder *b, const float *x, size_t n, size_t times)
{
	float *y = x ? build_allocate(b, n * times * sizeof *y) : NULL;

	for (size_t i = 0; y && i < n * times; i++)
		y[i] = x[i % n];
	return y;
}

struct buffer build_constant(struct builder *b, size_t n, float x)
{
	float *row = build_allocate(b, n * sizeof *row);

	for (size_t i = 0; row && i < n; i++)
		row[i] = x;
	return (struct buffer){ .at = row };    /* stride 0: the same row for all */
}

float build_number(struct builder *b, const char *name)
{
	const float *x = build_vector(b, name, "weight", 1);

	return x ? *x : 0;
}

void build_unfold(struct builder *b, const char *name, size_t n, size_t rows, size_t cols)
{
	model_unfold(b->model, build_name(b, name, "weight").s, n, rows, cols);
}

int build_has(const struct builder *b, const char *name)
{
	return model_has(b->model, build_name(b, name, "weight").s);
}

size_t build_n_rows(const struct builder *b, const char *name)
{
	const struct gguf_tensor *t = gguf_tensor(b->model->gguf, build_name(b, name, "weight").s);

	return t && t->dim[1] <= FF_MAX ? (size_t)t->dim[1] : 1;
}

void build_ignore(struct builder *b, const char *const *names, const char *suffix)
{
	for (; *names; names++)
		model_ignore(b->model, build_name(b, *names, suffix).s);
}

const float *build_bias(struct builder *b, const char *name, size_t n, size_t rows)
{
	return model_has(b->model, build_name(b, name, "bias").s) ? build_table(b, name, "bias", n, rows) : NULL;
}

/* input_scale is for hardware that quantises activations to 4-bit floats, and is ignored. */
const float *build_scales(struct builder *b, const char *name, size_t n)
{
	const struct gguf_tensor *t;

	if (model_has(b->model, build_name(b, name, "input_scale").s))
		build_vector(b, name, "input_scale", n);
	t = gguf_tensor(b->model->gguf, build_name(b, name, "scale").s);
	return t && t->dim[0] == n ? build_vector(b, name, "scale", n) : NULL;
}

struct norm build_norms_of(struct builder *b, const char *name, size_t norms, size_t n)
{
	struct norm norm = { .kind = b->model->norm, .eps = b->model->eps };

	if (!b->model->family->decoder.bare_norms)
		norm.weight = build_table(b, name, build_suffix(b, name), norms, n);
	norm.bias = build_bias(b, name, norms, n);
	return norm;
}

struct norm build_norm_of(struct builder *b, const char *name, size_t n)
{
	return build_norms_of(b, name, 1, n);
}
