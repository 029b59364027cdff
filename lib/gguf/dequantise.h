/* dequantise: one dequantiser per tensor type, each written from the type's definition. y[n] = values of the n elements at blocks; n is a
 * multiple of the type's block. Reached through the table in formats.h. */
#ifndef DEQUANTISE_H
#define DEQUANTISE_H

#include <stddef.h>

typedef void dequantiser(const void *blocks, float *y, size_t n);

dequantiser dequantise_f32, dequantise_f16, dequantise_bf16;
dequantiser dequantise_q4_0, dequantise_q4_1, dequantise_q5_0, dequantise_q5_1, dequantise_q8_0;
dequantiser dequantise_q2_k, dequantise_q3_k, dequantise_q4_k, dequantise_q5_k, dequantise_q6_k;

#endif
