/* dequantise: what the codes of each tensor type mean. These are the oracle of the kernels' tests and the reader of embedding rows, so they
 * are written to be checked against the definition, not to be fast. */
#include "dequantise.h"

#include <stdint.h>
#include <string.h>

#include "blocks.h"
#include "formats.h"

void dequantise_f32(const void *blocks, float *y, size_t n)
{
	memcpy(y, blocks, n * sizeof *y);
}

void dequantise_f16(const void *blocks, float *y, size_t n)
{
	const unsigned char *p = blocks;
	for (size_t i = 0; i < n; i++)
		y[i] = f16_to_f32(block_u16(p + 2 * i));
}

void dequantise_bf16(const void *blocks, float *y, size_t n)
{
	const unsigned char *p = blocks;
	for (size_t i = 0; i < n; i++)
		y[i] = bf16_to_f32(block_u16(p + 2 * i));
}

void dequantise_q4_0(const void *blocks, float *y, size_t n)
{
	for (const struct q4_0 *b = blocks; n; n -= 32, b++)
		for (int i = 0; i < 32; i++)
			*y++ = block_half(b->d) * (float)(block_nibble(b->qs, i) - 8);
}

void dequantise_q4_1(const void *blocks, float *y, size_t n)
{
	for (const struct q4_1 *b = blocks; n; n -= 32, b++)
		for (int i = 0; i < 32; i++)
			*y++ = block_half(b->d) * (float)block_nibble(b->qs, i) + block_half(b->m);
}

void dequantise_q5_0(const void *blocks, float *y, size_t n)
{
	for (const struct q5_0 *b = blocks; n; n -= 32, b++)
		for (int i = 0; i < 32; i++)
			*y++ = block_half(b->d) * (float)((block_nibble(b->qs, i) | block_fifth_bit(b->qh, i)) - 16);
}

void dequantise_q5_1(const void *blocks, float *y, size_t n)
{
	for (const struct q5_1 *b = blocks; n; n -= 32, b++)
		for (int i = 0; i < 32; i++)
			*y++ = block_half(b->d) * (float)(block_nibble(b->qs, i) | block_fifth_bit(b->qh, i)) + block_half(b->m);
}

void dequantise_q8_0(const void *blocks, float *y, size_t n)
{
	for (const struct q8_0 *b = blocks; n; n -= 32, b++)
		for (int i = 0; i < 32; i++)
			*y++ = block_half(b->d) * (float)b->qs[i];
}

void dequantise_q2_k(const void *blocks, float *y, size_t n)
{
	for (const struct q2_k *b = blocks; n; n -= 256, b++)
		for (int i = 0; i < 256; i++) {
			int s = b->scales[i / 16];
			*y++ = block_half(b->d) * (float)(s & 15) * (float)block_bit_pair(b->qs, i) - block_half(b->dmin) * (float)(s >> 4);
		}
}

void dequantise_q3_k(const void *blocks, float *y, size_t n)
{
	for (const struct q3_k *b = blocks; n; n -= 256, b++)
		for (int i = 0; i < 256; i++) {
			int high = b->hmask[i % 32] >> i / 32 & 1;
			*y++ = block_half(b->d) * (float)block_q3_k_scale(b->scales, i / 16) * (float)((block_bit_pair(b->qs, i) | high << 2) - 4);
		}
}

void dequantise_q4_k(const void *blocks, float *y, size_t n)
{
	for (const struct q4_k *b = blocks; n; n -= 256, b++)
		for (int i = 0; i < 256; i++) {
			int scale, min;
			block_k_scale_min(b->scales, i / 32, &scale, &min);
			*y++ = block_half(b->d) * (float)scale * (float)block_k_nibble(b->qs, i) - block_half(b->dmin) * (float)min;
		}
}

void dequantise_q5_k(const void *blocks, float *y, size_t n)
{
	for (const struct q5_k *b = blocks; n; n -= 256, b++)
		for (int i = 0; i < 256; i++) {
			int scale, min;
			block_k_scale_min(b->scales, i / 32, &scale, &min);
			int code = block_k_nibble(b->qs, i) | (b->qh[i % 32] >> i / 32 & 1) << 4;
			*y++ = block_half(b->d) * (float)scale * (float)code - block_half(b->dmin) * (float)min;
		}
}

void dequantise_q6_k(const void *blocks, float *y, size_t n)
{
	for (const struct q6_k *b = blocks; n; n -= 256, b++)
		for (int i = 0; i < 256; i++)
			*y++ = block_half(b->d) * (float)b->scales[i / 16] * (float)((block_q6_k_low(b->ql, i) | block_bit_pair(b->qh, i) << 4) - 32);
}
