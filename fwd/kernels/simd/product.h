/* product: the products of an instruction set's table: each format's row in unpack.h, and the three kinds of floats, given to the skeletons. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "acts.h"
#include "dot.h"
#include "float_product.h"
#include "fwd/kernels/kernels.h"
#include "panel.h"

static enum acts_kind vector_acts_kind(const struct format *format, int wide)
{
	if (format->widen)
		return ACTS_F32;
	if (wide)
		return ACTS_Q16;
	return tile_fits(format) ? ACTS_Q8 : ACTS_Q8_WORDS;
}

static size_t vector_product_scratch(size_t k)
{
	size_t codes = panel_bytes(k) + waiting_bytes(chunks_of(k / 32, PANEL_CHUNK));
	size_t floats = float_panel_floats(k) * sizeof(float) + waiting_bytes(chunks_of(k, FLOAT_CHUNK));

	return codes > floats ? codes : floats;
}

INLINE void product_codes(struct unpacker u, const struct matrix *w, const struct acts *x, size_t r0, size_t r1, float *y, size_t stride, void *scratch)
{
	if (acts_few(x->kind, x->n))
		dot(u, w, x, r0, r1, y, stride);
	else
		panel(u, w, x, r0, r1, y, stride, scratch);
}

/* One function a format. */
#define PRODUCT_FLOAT(id, NAME, name, bytes) \
	static void product_##name(const struct product_job *j) \
	{ \
		float_product(floats_##name, bytes, j->w, j->x, j->r0, j->r1, j->y, j->stride, j->scratch); \
	}
#define PRODUCT_CODES(id, NAME, name, ...) \
	static void product_##name(const struct product_job *j) \
	{ \
		product_codes(unpack_##name, j->w, j->x, j->r0, j->r1, j->y, j->stride, j->scratch); \
	}
FORMATS_FLOAT(PRODUCT_FLOAT)
FORMATS_QUANTISED(PRODUCT_CODES)

static void vector_product(const struct product_job *job)
{
#define PRODUCT_OF(id, NAME, name, ...) [id] = product_##name,
	static void (*const products[FORMAT_LIMIT])(const struct product_job *) = { FORMATS_FLOAT(PRODUCT_OF) FORMATS_QUANTISED(PRODUCT_OF) };

	products[job->w->format->id](job);
}

#endif
