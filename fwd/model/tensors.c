/* Tensors by name, with the shape and type that the caller expects. */
#include "tensors.h"

#include <stdlib.h>
#include <string.h>

enum { TYPE_I32 = 26 };         /* GGUF's type number of 32-bit integers */

enum { USED = 1, IGNORED };     /* values of model->used; 0: nobody asked for the tensor */

/* A vector that was returned to a caller. */
struct vector {
	struct vector *next;
	float x[];
};

size_t tensors_layer(struct gguf_string name)
{
	size_t il = 0, i = 4;

	if (name.n < 6 || memcmp(name.s, "blk.", 4))
		return SIZE_MAX;
	for (; i < name.n && name.s[i] >= '0' && name.s[i] <= '9' && il < TENSORS_LAYERS; i++)
		il = 10 * il + (size_t)(name.s[i] - '0');
	return i > 4 && i < name.n && name.s[i] == '.' ? il : SIZE_MAX;
}

int model_has(const struct model *m, const char *name)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);

	return t && m->used[t - m->gguf->tensors] != IGNORED;
}

void model_ignore(struct model *m, const char *name)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);

	if (t)
		m->used[t - m->gguf->tensors] = IGNORED;
}

void model_unfold(struct model *m, const char *name, size_t n, size_t rows, size_t cols)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);
	int flat = t && t->dim[0] == n * rows * cols, by_row = t && t->dim[0] == cols && t->dim[1] == n * rows;

	if ((flat || by_row) && t->dim[2] * t->dim[3] == 1 && t->dim[0] * t->dim[1] == n * rows * cols) {
		struct gguf_tensor *to = &m->gguf->tensors[t - m->gguf->tensors];

		to->dim[0] = cols;
		to->dim[1] = rows;
		to->dim[2] = n;
	}
}

int model_check_type(const struct gguf_tensor *t, struct why *w)
{
	size_t block, bytes;
	const char *name = format_layout(t->type, &block, &bytes);

	return format_of(t->type) ? 0
		: why(w, "tensor %.*s: type %s is not supported (fwd --list names those that are)",
		GGUF_SHOWN(t->name), name ? name : "unknown");
}

/* Whether a tensor has n matrices of `rows` rows of `cols` elements. Dimensions of 1 do not count: they do not change
 * where an element is. */
static int has_shape(const struct gguf_tensor *t, size_t n, size_t rows, size_t cols)
{
	const struct format *f = format_of(t->type);
	const uint64_t wanted[] = { cols, rows, n };
	size_t i = 0;

	if (f && cols % f->block)
		return 0;
	for (size_t d = 0; d < 4; d++) {
		if (t->dim[d] == 1)
			continue;
		while (i < 3 && wanted[i] == 1)
			i++;
		if (i == 3 || t->dim[d] != wanted[i++])
			return 0;
	}
	while (i < 3 && wanted[i] == 1)
		i++;
	return i == 3;
}

/* The first of n matrices; t NULL: a stand-in without data. */
static struct matrix first_matrix(const struct gguf_tensor *t, size_t rows, size_t cols)
{
	const struct format *f = format_of(t ? t->type : FORMAT_F32);

	return (struct matrix){ .format = f, .data = t ? t->data : NULL, .rows = rows, .cols = cols,
		.row_bytes = cols / f->block * f->bytes };
}

int tensor_matrices(const struct gguf_tensor *t, size_t n, size_t rows, size_t cols, struct matrix *out)
{
	if (!has_shape(t, n, rows, cols))
		return 0;
	*out = first_matrix(t, rows, cols);
	return 1;
}

/* Finds n matrices of this name and shape with a supported type, and marks them as used. That rows are whole blocks,
 * aligned and within the file was checked when it was opened. */
static const struct gguf_tensor *find(struct model *m, const char *name, size_t n, size_t rows, size_t cols,
	struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);
	int bad = 0;

	if (t)
		m->used[t - m->gguf->tensors] = USED;
	if (t && !t->data)
		return NULL;    /* reported when the file was opened */
	if (!t)
		bad = why(w, "tensor %s: missing", name);
	else if (has_shape(t, n, rows, cols))
		bad = model_check_type(t, w);
	else if (m->unsure)
		return NULL;
	else
		bad = why(w, "tensor %s: %llu x %llu x %llu x %llu elements, not %zu x %zu x %zu", name,
			(unsigned long long)t->dim[0], (unsigned long long)t->dim[1], (unsigned long long)t->dim[2],
			(unsigned long long)t->dim[3], cols, rows, n);
	if (bad)
		why_tell(m->faults, w);
	return bad ? NULL : t;
}

float *model_floats(struct model *m, size_t n)
{
	struct vector *v = calloc(1, sizeof *v + n * sizeof *v->x);

	if (!v)
		return NULL;
	v->next = m->vectors;
	m->vectors = v;
	return v->x;
}

/* In a survey: *out = n zeros in place of a faulty tensor. */
static int stand_in(struct model *m, size_t n, const float **out, struct why *w)
{
	if (!m->faults)
		return -1;
	*out = model_floats(m, n);
	return *out ? 0 : why(w, "out of memory");
}

int model_matrices(struct model *m, const char *name, size_t n, size_t rows, size_t cols, struct matrix *out,
	struct why *w)
{
	const struct gguf_tensor *t = find(m, name, n, rows, cols, w);

	if (!t && !m->faults)
		return -1;
	*out = first_matrix(t, rows, cols);
	return 0;
}

int model_table(struct model *m, const char *name, size_t rows, size_t cols, const float **out, struct why *w)
{
	const struct gguf_tensor *t = find(m, name, 1, rows, cols, w);
	size_t n = rows * cols;
	float *x;

	if (!t)
		return stand_in(m, n, out, w);
	x = model_floats(m, n);
	if (!x)
		return why(w, "tensor %s: out of memory", name);
	format_dequantise(format_of(t->type), t->data, x, n);
	*out = x;
	return 0;
}

int model_vector(struct model *m, const char *name, size_t n, const float **out, struct why *w)
{
	return model_table(m, name, 1, n, out, w);
}

int model_integers(struct model *m, const char *name, size_t rows, size_t cols, int32_t end, const int32_t **out,
	struct why *w)
{
	const struct gguf_tensor *t = gguf_tensor(m->gguf, name);
	int bad = 0;

	if (!t)
		bad = why(w, "tensor %s: missing", name);
	else if (t->type != TYPE_I32 || t->dim[0] != cols || t->dim[1] != rows || t->dim[2] * t->dim[3] != 1)
		bad = why(w, "tensor %s: not %zu x %zu integers of 32 bits", name, cols, rows);
	if (t)
		m->used[t - m->gguf->tensors] = USED;
	*out = t && !bad ? t->data : NULL;
	for (size_t i = 0; *out && i < rows * cols; i++)
		if ((*out)[i] < 0 || (*out)[i] >= end) {
			bad = why(w, "tensor %s: row %zu: %d is not below %d", name, i / cols, (int)(*out)[i], end);
			*out = NULL;
		}
	return bad ? why_tell(m->faults, w) : 0;
}

/* Whether some layer in [first, last) uses the tensors of this block. */
static int has_block(const struct model *m, size_t first, size_t last, size_t block)
{
	while (first < last && m->layer[first].block != block)
		first++;
	return first < last;
}

int model_all_used(const struct model *m, size_t first, size_t last, struct why *w)
{
	int whole = first == 0 && last == m->n_layer;

	if (m->ignores_unknown)
		return 0;
	for (uint64_t i = 0; i < m->gguf->n_tensors; i++) {
		struct gguf_string s = m->gguf->tensors[i].name;
		size_t il = tensors_layer(s);

		if (il >= m->n_layer && il < m->n_block)
			continue;
		if (m->used[i] || !(whole || has_block(m, first, last, il)))
			continue;
		why(w, "tensor %.*s: unknown for architecture %s%s", GGUF_SHOWN(s), m->arch,
			il == SIZE_MAX ? " (fwd --ignore-tensors runs the rest)" : "");
		if (why_tell(m->faults, w) < 0)
			return -1;
	}
	return 0;
}

void tensors_close(struct model *m)
{
	for (struct vector *v = m->vectors, *next; v; v = next) {
		next = v->next;
		free(v);
	}
}
