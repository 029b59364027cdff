/* blocks: what the bits of each tensor type mean. The scalar kernels compute with these readers and the tests hold
 * everything else against them, so they are written to be checked against the definition, not to be fast. */
#include "blocks.h"

#include <string.h>

#include "lib/base/half.h"

static uint16_t u16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static float f16(const f16_bytes h)
{
	return f16_to_f32(u16(h));
}

float widen_f32(const void *element)
{
	const unsigned char *p = element;
	uint32_t bits = u16(p) | (uint32_t)u16(p + 2) << 16;
	float f;

	memcpy(&f, &bits, sizeof f);
	return f;
}

float widen_f16(const void *element)
{
	return f16_to_f32(u16(element));
}

float widen_bf16(const void *element)
{
	return bf16_to_f32(u16(element));
}

/* ---- blocks of 32 ---- */

/* The low nibbles of 16 bytes are elements 0 to 15, the high ones 16 to 31. */
static int nibble(const uint8_t *qs, int i)
{
	return i < 16 ? qs[i] & 15 : qs[i - 16] >> 4;
}

/* Bit i of qh is the fifth bit of element i. */
static int fifth_bit(const uint8_t *qh, int i)
{
	return (qh[i / 8] >> i % 8 & 1) << 4;
}

void read_q4_0(const void *block, struct block_values *out)
{
	const struct q4_0 *b = block;

	out->scale[0] = f16(b->d);
	for (int i = 0; i < 32; i++)
		out->code[i] = nibble(b->qs, i) - 8;
}

void read_q4_1(const void *block, struct block_values *out)
{
	const struct q4_1 *b = block;

	out->scale[0] = f16(b->d);
	out->min[0] = f16(b->m);
	for (int i = 0; i < 32; i++)
		out->code[i] = nibble(b->qs, i);
}

void read_q5_0(const void *block, struct block_values *out)
{
	const struct q5_0 *b = block;

	out->scale[0] = f16(b->d);
	for (int i = 0; i < 32; i++)
		out->code[i] = (nibble(b->qs, i) | fifth_bit(b->qh, i)) - 16;
}

void read_q5_1(const void *block, struct block_values *out)
{
	const struct q5_1 *b = block;

	out->scale[0] = f16(b->d);
	out->min[0] = f16(b->m);
	for (int i = 0; i < 32; i++)
		out->code[i] = nibble(b->qs, i) | fifth_bit(b->qh, i);
}

void read_q8_0(const void *block, struct block_values *out)
{
	const struct q8_0 *b = block;

	out->scale[0] = f16(b->d);
	memcpy(out->code, b->qs, sizeof b->qs);
}

/* ---- super-blocks of 256 ---- */

/* Two bits of element i: every 32 bytes hold 128 elements, four runs of 32 in their four bit pairs. */
static int bit_pair(const uint8_t *q, int i)
{
	return q[i / 128 * 32 + i % 32] >> i % 128 / 32 * 2 & 3;
}

/* Four bits of element i: every 32 bytes hold 64 elements, the second 32 in the high nibbles. */
static int k_nibble(const uint8_t *qs, int i)
{
	return qs[i / 64 * 32 + i % 32] >> i % 64 / 32 * 4 & 15;
}

/* The low four bits of element i in Q6_K: every 64 bytes hold 128 elements, the second 64 in the high nibbles. */
static int q6_k_nibble(const uint8_t *ql, int i)
{
	return ql[i / 128 * 64 + i % 64] >> i % 128 / 64 * 4 & 15;
}

void read_q2_k(const void *block, struct block_values *out)
{
	const struct q2_k *b = block;

	for (int j = 0; j < 16; j++) {
		out->scale[j] = f16(b->d) * (float)(b->scales[j] & 15);
		out->min[j] = -(f16(b->dmin) * (float)(b->scales[j] >> 4));
	}
	for (int i = 0; i < 256; i++)
		out->code[i] = bit_pair(b->qs, i);
}

/* Scale j has six bits and an offset of 32: the low four are nibbles of the first eight bytes, the high two are bit
 * pairs of the last four. */
void read_q3_k(const void *block, struct block_values *out)
{
	const struct q3_k *b = block;

	for (int j = 0; j < 16; j++) {
		int low = b->scales[j % 8] >> j / 8 * 4 & 15, high = b->scales[8 + j % 4] >> j / 4 * 2 & 3;

		out->scale[j] = f16(b->d) * (float)((low | high << 4) - 32);
	}
	for (int i = 0; i < 256; i++)
		out->code[i] = (bit_pair(b->qs, i) | (b->hmask[i % 32] >> i / 32 & 1) << 2) - 4;
}

/* The scales and minima of Q4_K and Q5_K, six bits each: the first four lie in bytes 0-3 and 4-7, whose upper bit pairs
 * are the high bits of the last four; these have their low four bits in bytes 8-11. */
static void read_k_scales(const uint8_t *s, float d, float dmin, struct block_values *out)
{
	for (int j = 0; j < 8; j++) {
		int scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
		int min = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;

		out->scale[j] = d * (float)scale;
		out->min[j] = -(dmin * (float)min);
	}
}

void read_q4_k(const void *block, struct block_values *out)
{
	const struct q4_k *b = block;

	read_k_scales(b->scales, f16(b->d), f16(b->dmin), out);
	for (int i = 0; i < 256; i++)
		out->code[i] = k_nibble(b->qs, i);
}

void read_q5_k(const void *block, struct block_values *out)
{
	const struct q5_k *b = block;

	read_k_scales(b->scales, f16(b->d), f16(b->dmin), out);
	for (int i = 0; i < 256; i++)
		out->code[i] = k_nibble(b->qs, i) | (b->qh[i % 32] >> i / 32 & 1) << 4;
}

void read_q6_k(const void *block, struct block_values *out)
{
	const struct q6_k *b = block;

	for (int j = 0; j < 16; j++)
		out->scale[j] = f16(b->d) * (float)b->scales[j];
	for (int i = 0; i < 256; i++)
		out->code[i] = (q6_k_nibble(b->ql, i) | bit_pair(b->qh, i) << 4) - 32;
}
