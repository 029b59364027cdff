/* Control vectors: the sum of what the files say for each layer. */
#include "control.h"

#include <math.h>

#include "encoder.h"
#include "family.h"
#include "lib/base/hash.h"
#include "tensors.h"

/* The N of direction.N, or 0. */
static size_t direction_of(struct gguf_string name)
{
	static const char prefix[] = "direction.";
	size_t layer = 0, i = sizeof prefix - 1;

	if (name.n <= i || memcmp(name.s, prefix, i) || name.s[i] == '0')
		return 0;
	for (; i < name.n; i++) {
		if (name.s[i] < '0' || name.s[i] > '9' || layer >= TENSORS_LAYERS)
			return 0;
		layer = 10 * layer + (size_t)(name.s[i] - '0');
	}
	return layer < TENSORS_LAYERS ? layer : 0;
}

static int check_direction(const struct gguf_tensor *t, uint64_t width, struct why *w)
{
	const float *x = t->data;

	if (!direction_of(t->name))
		return why(w, "tensor %.*s: not direction.N, with N from 1 to %d", GGUF_SHOWN(t->name),
			TENSORS_LAYERS - 1);
	if (t->type != FORMAT_F32 || t->dim[0] != width || t->dim[1] * t->dim[2] * t->dim[3] != 1)
		return why(w, "tensor %.*s: not %llu F32 values, as the others", GGUF_SHOWN(t->name),
			(unsigned long long)width);
	for (size_t i = 0; i < width; i++)
		if (!isfinite(x[i]))
			return why(w, "tensor %.*s: element %zu is not a number", GGUF_SHOWN(t->name), i);
	return 0;
}

int control_check(const struct gguf *g, struct why *w)
{
	if (!g->n_tensors)
		return why(w, "no directions");
	for (uint64_t i = 0; i < g->n_tensors; i++)
		if (check_direction(&g->tensors[i], g->tensors[0].dim[0], w) < 0)
			return -1;
	return 0;
}

/* Adds scale · x to what is added after a layer. */
static int add_direction(struct model *m, size_t layer, const float *x, float scale, struct why *w)
{
	float **sum = &m->control[layer];

	if (!*sum && !(*sum = model_floats(m, m->n_embd)))
		return why(w, "out of memory");
	for (size_t i = 0; i < m->n_embd; i++)
		(*sum)[i] += scale * x[i];
	return 0;
}

static int add_file(struct model *m, const struct gguf *g, float scale, const struct control_setup *setup,
	struct why *w)
{
	if (control_check(g, w) < 0)
		return -1;
	if (g->tensors[0].dim[0] != m->n_embd)
		return why(w, "directions of %llu values, but the model's rows have %zu",
			(unsigned long long)g->tensors[0].dim[0], m->n_embd);
	for (uint64_t i = 0; i < g->n_tensors; i++) {
		const struct gguf_tensor *t = &g->tensors[i];
		size_t layer = direction_of(t->name);

		if (layer < m->n_layer && layer >= setup->first && layer < setup->end && (scale < 0 || scale > 0)
		    && add_direction(m, layer, t->data, scale, w) < 0)
			return -1;
	}
	return 0;
}

static int read_file(struct model *m, struct scaled_file file, const struct control_setup *setup, struct why *w)
{
	struct gguf *g = gguf_open(file.path, 1, w);
	int status = g ? add_file(m, g, file.scale, setup, w) : -1;

	if (g && status < 0)
		why_in(w, file.path);
	gguf_close(g);
	return status;
}

int control_read(struct model *m, const struct control_setup *setup, struct why *w)
{
	if (!setup->n)
		return 0;
	if (m->family->streams || encoder_of(m)->n_layer) {
		why(w, "architecture %s has no single residual stream, as --control-vector needs", m->arch);
		return why_in(w, m->gguf->path);
	}
	for (size_t i = 0; i < setup->n; i++)
		if (read_file(m, setup->file[i], setup, w) < 0)
			return -1;
	for (size_t il = 0; il < m->n_layer; il++)
		if (m->control[il]) {
			m->controlled = hash_data(&il, sizeof il, m->controlled);
			m->controlled = hash_data(m->control[il], m->n_embd * sizeof(float), m->controlled);
		}
	return 0;
}
