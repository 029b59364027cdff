/* Families that run their layers several times: each time with the same weights and with K and V of its own. */
#include <stdlib.h>
#include <string.h>

#include "builder.h"
#include "keys.h"
#include "tensors.h"

/* The layers of the file, so many times. */
static int repeat(struct model *m, size_t times, struct why *w)
{
	size_t n = m->n_layer;
	struct layer *layer = realloc(m->layer, n * times * sizeof *layer);

	if (!layer)
		return why(w, "out of memory");
	for (size_t i = 1; i < times; i++)
		memcpy(layer + i * n, layer, n * sizeof *layer);
	m->layer = layer;
	m->n_layer = n * times;
	return 0;
}

/* Nanbeige 4.2 (2026): between the times x is normed as it is before the head, unless a key says that it is not. */
static int nanbeige(struct model *m, struct why *w)
{
	size_t times = 1;
	int plain = 0;

	if (key_size(m, "num_loops", 1, TENSORS_LAYERS / m->n_layer, &times, w) < 0
	    || key_flag(m, "skip_loop_final_norm", &plain, w) < 0 || repeat(m, times, w) < 0)
		return -1;
	m->loops_normed = !plain;
	return 0;
}

static void nanbeige_layer(struct builder *b, size_t il)
{
	if (il > 0 && b->layer->block == 0 && b->model->loops_normed)
		build_norm_stream(b, "output_norm");
	decoder_layer(b, il);
}

const struct family families_loops[] = {
	{ .arch = "nanbeige", .norm = NORM_RMS, .read = nanbeige, .layer = nanbeige_layer },
	{ .arch = NULL },
};
