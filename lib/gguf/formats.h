/* formats: the tensor types that we compute with, one row each. Layouts are ggml's, as published with its file
 * format.
 *
 * fwd/kernels/README.md says what a new quantised type takes. Ids, names, sizes, dequantisation, the choice of kernels
 * and the tests follow from its row. */
#ifndef FORMATS_H
#define FORMATS_H

#include <stddef.h>
#include <stdint.h>

/* The value of a quantised element is scale · code, or scale · code + minimum, where code is an integer from low
 * to high. `scales` says how many scales 32 elements have: 1, or 2, one for every 16. Where a type has minima
 * there is one beside each scale.
 *	ROW(id, NAME, struct, elements of a block, low, high, scales, minima) */
#define FORMATS_QUANTISED(ROW) \
	ROW(2, Q4_0, q4_0, 32, -8, 7, 1, 0) \
	ROW(3, Q4_1, q4_1, 32, 0, 15, 1, 1) \
	ROW(6, Q5_0, q5_0, 32, -16, 15, 1, 0) \
	ROW(7, Q5_1, q5_1, 32, 0, 31, 1, 1) \
	ROW(8, Q8_0, q8_0, 32, -128, 127, 1, 0) \
	ROW(10, Q2_K, q2_k, 256, 0, 3, 2, 1) \
	ROW(11, Q3_K, q3_k, 256, -4, 3, 2, 0) \
	ROW(12, Q4_K, q4_k, 256, 0, 15, 1, 1) \
	ROW(13, Q5_K, q5_k, 256, 0, 31, 1, 1) \
	ROW(14, Q6_K, q6_k, 256, -32, 31, 2, 0) \
	ROW(16, IQ2_XXS, iq2_xxs, 256, -43, 43, 1, 0) \
	ROW(17, IQ2_XS, iq2_xs, 256, -43, 43, 2, 0) \
	ROW(18, IQ3_XXS, iq3_xxs, 256, -62, 62, 1, 0) \
	ROW(19, IQ1_S, iq1_s, 256, -9, 9, 1, 0) \
	ROW(20, IQ4_NL, iq4_nl, 32, -127, 113, 1, 0) \
	ROW(21, IQ3_S, iq3_s, 256, -15, 15, 1, 0) \
	ROW(22, IQ2_S, iq2_s, 256, -43, 43, 2, 0) \
	ROW(23, IQ4_XS, iq4_xs, 256, -127, 113, 1, 0) \
	ROW(29, IQ1_M, iq1_m, 256, -9, 9, 2, 0) \
	ROW(34, TQ1_0, tq1_0, 256, -1, 1, 1, 0) \
	ROW(35, TQ2_0, tq2_0, 256, -1, 2, 1, 0) \
	ROW(39, MXFP4, mxfp4, 32, -12, 12, 1, 0) \
	ROW(40, NVFP4, nvfp4, 64, -12, 12, 2, 0) \
	ROW(41, Q1_0, q1_0, 128, -1, 1, 1, 0) \
	ROW(42, Q2_0, q2_0, 64, -1, 2, 1, 0)

/* ROW(id, NAME, name, bytes) */
#define FORMATS_FLOAT(ROW) \
	ROW(0, F32, f32, 4) \
	ROW(1, F16, f16, 2) \
	ROW(30, BF16, bf16, 2)

#define FORMAT_ID(id, NAME, ...) FORMAT_##NAME = id,
/* all ids are below the limit */
enum format_id { FORMATS_FLOAT(FORMAT_ID) FORMATS_QUANTISED(FORMAT_ID) FORMAT_LIMIT = 64 };
#undef FORMAT_ID

enum { FORMAT_BLOCK_MOST = 256 };       /* elements of a block, at most */

/* A block as integers and factors: element i is scale[i / run] · code[i] + min[i / run], where run is 32 or 16
 * elements. Without minima, min is not written. */
struct block_values {
	int8_t code[FORMAT_BLOCK_MOST];
	float scale[FORMAT_BLOCK_MOST / 16], min[FORMAT_BLOCK_MOST / 16];
};

struct format {
	uint32_t id;
	const char *name;       /* as in "Q4_K" */
	size_t block, bytes;    /* elements of a block, bytes of a block; floats have blocks of one element */
	int low, high, scales, minima;  /* see the rows; 0 for floats */
	void (*read)(const void *block, struct block_values *out);      /* NULL for floats */
	float (*widen)(const void *element);    /* NULL for quantised types */
};

/* The type's row, or NULL for a type that we cannot compute with; the i-th row, or NULL past the last. */
const struct format *format_of(uint32_t id);
const struct format *format_each(size_t i);

/* y[n] = the values of n elements from a block's first one on; n is a multiple of the block. */
void format_dequantise(const struct format *f, const void *blocks, float *y, size_t n);

/* Name and size of any type that GGUF defines, so that a file with others can be described: elements and bytes of
 * a block. NULL, and sizes of 0, for a retired or unknown id. */
const char *format_layout(uint32_t id, size_t *block, size_t *bytes);

#endif
