/* formats: the one table of tensor types: id, name, block, and the dequantiser written from the definition (the oracle of every kernel).
 * Layouts are ggml's, as published in its file format; a new type is one struct, one dequantiser, one row. */
#ifndef FORMATS_H
#define FORMATS_H

#include <stddef.h>
#include <stdint.h>

enum format_id {        /* GGUF's tensor type ids */
	FORMAT_F32 = 0, FORMAT_F16 = 1, FORMAT_Q4_0 = 2, FORMAT_Q4_1 = 3, FORMAT_Q5_0 = 6, FORMAT_Q5_1 = 7, FORMAT_Q8_0 = 8,
	FORMAT_Q2_K = 10, FORMAT_Q3_K = 11, FORMAT_Q4_K = 12, FORMAT_Q5_K = 13, FORMAT_Q6_K = 14, FORMAT_BF16 = 30
};

struct format {
	uint32_t id;
	const char *name;       /* as in "Q4_K" */
	size_t block;           /* elements */
	size_t bytes;           /* of one block */
	/* y[n] = the values of n elements that start at a block border; n is a multiple of block */
	void (*dequantise)(const void *blocks, float *y, size_t n);
};

/* The row of the table, or NULL for a type that we do not read. */
const struct format *format_of(uint32_t id);

/* Name and size of every type that GGUF defines, also those we do not compute with, so that a file that holds one can be named and measured:
 * elements and bytes of one block; 0 for a retired or unknown id. */
const char *format_layout(uint32_t id, size_t *block, size_t *bytes);

/* IEEE half precision and bfloat16, rounded to nearest even; a NaN stays a NaN. */
float f16_to_f32(uint16_t h);
uint16_t f32_to_f16(float f);
float bf16_to_f32(uint16_t h);

#endif
