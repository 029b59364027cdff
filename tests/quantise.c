#include "quantise.h"
#include "quantise_blocks.h"

#include <math.h>
#include <string.h>

#include "lib/base/half.h"
#include "lib/gguf/formats.h"

void put16(unsigned char *to, uint16_t v)
{
	to[0] = (unsigned char)v;
	to[1] = (unsigned char)(v >> 8);
}

float put_half(unsigned char *to, float scale)
{
	uint16_t h = f32_to_f16(scale);

	put16(to, h);
	return f16_to_f32(h);
}

int level(float x, float scale, int low, int high)
{
	float q = scale != 0 ? floorf(x / scale + 0.5f) : 0;

	return q < (float)low ? low : q > (float)high ? high : (int)q;
}

float extreme(const float *x, size_t n)
{
	float most = 0;

	for (size_t i = 0; i < n; i++)
		if (fabsf(x[i]) > fabsf(most))
			most = x[i];
	return most;
}

/* The smallest and largest value, the smallest at most 0: these formats can only subtract a minimum. */
static void range(const float *x, size_t n, float *low, float *high)
{
	*low = *high = 0;
	for (size_t i = 0; i < n; i++) {
		*low = x[i] < *low ? x[i] : *low;
		*high = x[i] > *high ? x[i] : *high;
	}
}

static void f32_block(const float *x, unsigned char *b)
{
	uint32_t u;

	memcpy(&u, x, 4);
	put16(b, (uint16_t)u);
	put16(b + 2, (uint16_t)(u >> 16));
}

static void f16_block(const float *x, unsigned char *b)
{
	put16(b, f32_to_f16(*x));
}

static void bf16_block(const float *x, unsigned char *b)
{
	uint32_t u;

	memcpy(&u, x, 4);
	put16(b, (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16));
}

static void q8_0_block(const float *x, unsigned char *b)
{
	float d = put_half(b, fabsf(extreme(x, 32)) / 127);

	for (size_t i = 0; i < 32; i++)
		b[2 + i] = (unsigned char)level(x[i], d, -127, 127);
}

/* Q4_0, Q4_1, Q5_0, Q5_1: [half d][half minimum]?[32 high bits]?[16 bytes: elements 0-15 in the low nibbles, 16-31 in
 * the high ones]. */
static void small_block(const float *x, unsigned char *b, int bits, int with_minimum)
{
	unsigned char *nibbles = b + 2 + 2 * with_minimum + 4 * (bits == 5);
	int top = (1 << bits) - 1, middle = 1 << (bits - 1);
	uint32_t high = 0;
	float d, low, most;

	if (with_minimum) {
		range(x, 32, &low, &most);
		d = put_half(b, (most - low) / (float)top);
		low = put_half(b + 2, low);
		middle = 0;
	} else {
		d = put_half(b, extreme(x, 32) / (float)-middle);
		low = 0;
	}
	memset(nibbles, 0, 16);
	for (size_t i = 0; i < 32; i++) {
		int q = level(x[i] - low, d, -middle, top - middle) + middle;

		nibbles[i % 16] |= (unsigned char)((q & 15) << 4 * (i / 16));
		high |= (uint32_t)(q >> 4) << i;
	}
	if (bits == 5) {
		put16(nibbles - 4, (uint16_t)high);
		put16(nibbles - 2, (uint16_t)(high >> 16));
	}
}

static void q4_0_block(const float *x, unsigned char *b) { small_block(x, b, 4, 0); }
static void q4_1_block(const float *x, unsigned char *b) { small_block(x, b, 4, 1); }
static void q5_0_block(const float *x, unsigned char *b) { small_block(x, b, 5, 0); }
static void q5_1_block(const float *x, unsigned char *b) { small_block(x, b, 5, 1); }

/* The scales of a block of 256: n sub-blocks, each with an integer scale in [-top - 1, top], times d. */
static float signed_scales(const float *x, size_t n, float levels, int top, unsigned char *d, int *scale)
{
	float sub[16] = { 0 }, unit;

	for (size_t i = 0; i < n; i++)
		sub[i] = extreme(x + i * (256 / n), 256 / n) / -levels;
	unit = put_half(d, extreme(sub, n) / (float)-(top + 1));
	for (size_t i = 0; i < n; i++)
		scale[i] = level(sub[i], unit, -top - 1, top);
	return unit;
}

/* The same with minima: value = step·q - low, step = d·scale, low = dmin·minimum. */
struct scales_and_minima {
	int scale[16], minimum[16];     /* codes in [0, top] */
	float step[16], low[16];
};

/* Writes d and dmin to half[4]. */
static struct scales_and_minima scales_and_minima(const float *x, size_t n, float levels, int top, unsigned char *half)
{
	struct scales_and_minima s = { 0 };
	float unit, unit_min, most;

	for (size_t i = 0; i < n; i++) {
		range(x + i * (256 / n), 256 / n, &s.low[i], &most);
		s.step[i] = (most - s.low[i]) / levels;
		s.low[i] = -s.low[i];
	}
	unit = put_half(half, extreme(s.step, n) / (float)top);
	unit_min = put_half(half + 2, extreme(s.low, n) / (float)top);
	for (size_t i = 0; i < n; i++) {
		s.scale[i] = level(s.step[i], unit, 0, top);
		s.minimum[i] = level(s.low[i], unit_min, 0, top);
		s.step[i] = unit * (float)s.scale[i];
		s.low[i] = unit_min * (float)s.minimum[i];
	}
	return s;
}

/* 84 bytes: [16: scale, minimum as nibbles][64: four 2-bit planes of 32 a half][half d][half dmin] */
static void q2_k_block(const float *x, unsigned char *b)
{
	struct scales_and_minima s = scales_and_minima(x, 16, 3, 15, b + 80);

	memset(b + 16, 0, 64);
	for (size_t i = 0; i < 16; i++)
		b[i] = (unsigned char)(s.scale[i] | s.minimum[i] << 4);
	for (size_t i = 0; i < 256; i++) {
		int q = level(x[i] + s.low[i / 16], s.step[i / 16], 0, 3);

		b[16 + i / 128 * 32 + i % 32] |= (unsigned char)(q << 2 * (i % 128 / 32));
	}
}

/* 110 bytes: [32: bit i/32 of byte i%32 is the third bit][64: as Q2_K][12: sixteen 6-bit scales, biased by 32][half
 * d] */
static void q3_k_block(const float *x, unsigned char *b)
{
	int scale[16];
	float d = signed_scales(x, 16, 4, 31, b + 108, scale);

	memset(b, 0, 108);
	for (size_t i = 0; i < 16; i++) {
		int s = scale[i] + 32;

		b[96 + i % 8] |= (unsigned char)((s & 15) << 4 * (i / 8));
		b[104 + i % 4] |= (unsigned char)(s >> 4 << 2 * (i / 4));
	}
	for (size_t i = 0; i < 256; i++) {
		int q = level(x[i], d * (float)scale[i / 16], -4, 3) + 4;

		b[i % 32] |= (unsigned char)(q >> 2 << i / 32);
		b[32 + i / 128 * 32 + i % 32] |= (unsigned char)((q & 3) << 2 * (i % 128 / 32));
	}
}

/* The 12 bytes of eight 6-bit scales and minima: the first four whole; of the others the low nibbles, their high bits
 * on top of the first four. */
static void pack_scales(unsigned char *b, const int *scale, const int *minimum)
{
	for (size_t i = 0; i < 4; i++) {
		b[i] = (unsigned char)(scale[i] | scale[i + 4] >> 4 << 6);
		b[i + 4] = (unsigned char)(minimum[i] | minimum[i + 4] >> 4 << 6);
		b[i + 8] = (unsigned char)((scale[i + 4] & 15) | (minimum[i + 4] & 15) << 4);
	}
}

/* Q4_K 144 bytes: [half d][half dmin][12 scales][128: 64 elements in 32 bytes, the first 32 low]; Q5_K 176: 32 bytes of
 * fifth bits before the last. */
static void k_block(const float *x, unsigned char *b, int bits)
{
	unsigned char *nibbles = b + 16 + (bits == 5 ? 32 : 0);
	int top = (1 << bits) - 1;
	struct scales_and_minima s = scales_and_minima(x, 8, (float)top, 63, b);

	pack_scales(b + 4, s.scale, s.minimum);
	memset(b + 16, 0, (size_t)(nibbles + 128 - (b + 16)));
	for (size_t i = 0; i < 256; i++) {
		int q = level(x[i] + s.low[i / 32], s.step[i / 32], 0, top);

		nibbles[i / 64 * 32 + i % 32] |= (unsigned char)((q & 15) << 4 * (i % 64 / 32));
		if (bits == 5)
			b[16 + i % 32] |= (unsigned char)(q >> 4 << i / 32);
	}
}

static void q4_k_block(const float *x, unsigned char *b) { k_block(x, b, 4); }
static void q5_k_block(const float *x, unsigned char *b) { k_block(x, b, 5); }

/* 210 bytes: [128: low nibbles][64: high pairs][16: int8 scales][half d]; a half of 128 elements has 64 bytes of
 * nibbles, quarters 0 and 1 low. */
static void q6_k_block(const float *x, unsigned char *b)
{
	int scale[16];
	float d = signed_scales(x, 16, 32, 127, b + 208, scale);

	memset(b, 0, 192);
	for (size_t i = 0; i < 16; i++)
		b[192 + i] = (unsigned char)scale[i];
	for (size_t i = 0; i < 256; i++) {
		size_t half = i / 128, quarter = i % 128 / 32;
		int q = level(x[i], d * (float)scale[i / 16], -32, 31) + 32;

		b[half * 64 + quarter % 2 * 32 + i % 32] |= (unsigned char)((q & 15) << 4 * (quarter / 2));
		b[128 + half * 32 + i % 32] |= (unsigned char)(q >> 4 << 2 * quarter);
	}
}

static const struct {
	uint32_t type;
	size_t elements, bytes;
	void (*block)(const float *x, unsigned char *b);
} quantisers[] = {
	{ FORMAT_F32, 1, 4, f32_block }, { FORMAT_F16, 1, 2, f16_block }, { FORMAT_BF16, 1, 2, bf16_block },
	{ FORMAT_Q8_0, 32, 34, q8_0_block },
	{ FORMAT_Q4_0, 32, 18, q4_0_block }, { FORMAT_Q4_1, 32, 20, q4_1_block }, { FORMAT_Q5_0, 32, 22, q5_0_block },
	{ FORMAT_Q5_1, 32, 24, q5_1_block }, { FORMAT_Q2_K, 256, 84, q2_k_block },
	{ FORMAT_Q3_K, 256, 110, q3_k_block },
	{ FORMAT_Q4_K, 256, 144, q4_k_block }, { FORMAT_Q5_K, 256, 176, q5_k_block },
	{ FORMAT_Q6_K, 256, 210, q6_k_block },
	{ FORMAT_IQ4_NL, 32, 18, iq4_nl_block }, { FORMAT_IQ4_XS, 256, 136, iq4_xs_block },
	{ FORMAT_MXFP4, 32, 17, mxfp4_block }, { FORMAT_NVFP4, 64, 36, nvfp4_block },
	{ FORMAT_Q1_0, 128, 18, q1_0_block }, { FORMAT_Q2_0, 64, 18, q2_0_block },
	{ FORMAT_TQ1_0, 256, 54, tq1_0_block }, { FORMAT_TQ2_0, 256, 66, tq2_0_block },
	{ FORMAT_IQ2_XXS, 256, 66, iq2_xxs_block }, { FORMAT_IQ2_XS, 256, 74, iq2_xs_block },
	{ FORMAT_IQ2_S, 256, 82, iq2_s_block }, { FORMAT_IQ3_XXS, 256, 98, iq3_xxs_block },
	{ FORMAT_IQ3_S, 256, 110, iq3_s_block }, { FORMAT_IQ1_S, 256, 50, iq1_s_block },
	{ FORMAT_IQ1_M, 256, 56, iq1_m_block },
};

int quantise(uint32_t type, const float *x, void *blocks, size_t n)
{
	unsigned char *b = blocks;

	for (size_t f = 0; f < sizeof quantisers / sizeof *quantisers; f++)
		if (quantisers[f].type == type) {
			for (size_t i = 0; i < n; i += quantisers[f].elements, b += quantisers[f].bytes)
				quantisers[f].block(x + i, b);
			return 0;
		}
	return -1;
}
