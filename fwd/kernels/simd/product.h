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
	if (format->block == 1)
		return ACTS_F32;
	if (wide)
		return ACTS_Q16;
	return TILE_Q8_WORDS && format->id == FORMAT_Q8_0 ? ACTS_Q8_WORDS : ACTS_Q8;
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
#define PRODUCT(name, skeleton, ...) \
	static void product_##name(const struct product_job *j) \
	{ \
		skeleton(__VA_ARGS__, j->w, j->x, j->r0, j->r1, j->y, j->stride, j->scratch); \
	}
PRODUCT(f32, float_product, floats_f32, 4)
PRODUCT(f16, float_product, floats_f16, 2)
PRODUCT(bf16, float_product, floats_bf16, 2)
PRODUCT(q4_0, product_codes, unpack_q4_0)
PRODUCT(q4_1, product_codes, unpack_q4_1)
PRODUCT(q5_0, product_codes, unpack_q5_0)
PRODUCT(q5_1, product_codes, unpack_q5_1)
PRODUCT(q8_0, product_codes, unpack_q8_0)
PRODUCT(q2_k, product_codes, unpack_q2_k)
PRODUCT(q3_k, product_codes, unpack_q3_k)
PRODUCT(q4_k, product_codes, unpack_q4_k)
PRODUCT(q5_k, product_codes, unpack_q5_k)
PRODUCT(q6_k, product_codes, unpack_q6_k)
#undef PRODUCT

static void vector_product(const struct product_job *job)
{
	switch ((enum format_id)job->w->format->id) {
	case FORMAT_F32: product_f32(job); break;
	case FORMAT_F16: product_f16(job); break;
	case FORMAT_BF16: product_bf16(job); break;
	case FORMAT_Q4_0: product_q4_0(job); break;
	case FORMAT_Q4_1: product_q4_1(job); break;
	case FORMAT_Q5_0: product_q5_0(job); break;
	case FORMAT_Q5_1: product_q5_1(job); break;
	case FORMAT_Q8_0: product_q8_0(job); break;
	case FORMAT_Q2_K: product_q2_k(job); break;
	case FORMAT_Q3_K: product_q3_k(job); break;
	case FORMAT_Q4_K: product_q4_k(job); break;
	case FORMAT_Q5_K: product_q5_k(job); break;
	case FORMAT_Q6_K: product_q6_k(job); break;
	}
}

#endif
