/* quantise_few: blocks (quantise.h) of types with codes of four bits or fewer and no codebook of rows. */
#include "quantise_blocks.h"

#include <math.h>
#include <string.h>

static float rms(const float *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)x[i] * x[i];
	return (float)sqrt(sum / (double)n);
}

/* The index of the value nearest to x / scale. */
static unsigned nearest(const float *values, unsigned n, float x, float scale)
{
	unsigned best = 0;

	for (unsigned i = 1; i < n; i++)
		if (fabsf(values[i] * scale - x) < fabsf(values[best] * scale - x))
			best = i;
	return best;
}

/* Codes of n elements in n/2 bytes: low nibbles first. */
static void put_nibbles(const float *values, const float *x, size_t n, float scale, unsigned char *b)
{
	for (size_t i = 0; i < n / 2; i++)
		b[i] = (unsigned char)(nearest(values, 16, x[i], scale)
			| nearest(values, 16, x[n / 2 + i], scale) << 4);
}

static const float iq4[] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

/* [half d][16 nibbles, as Q4_0] */
void iq4_nl_block(const float *x, unsigned char *b)
{
	put_nibbles(iq4, x, 32, put_half(b, extreme(x, 32) / -127), b + 2);
}

/* [half d][16: high pairs of the scales][4: low nibbles][8 times 16 nibbles]; scales are biased by 32 */
void iq4_xs_block(const float *x, unsigned char *b)
{
	float most[8], d;
	uint16_t high = 0;

	for (size_t j = 0; j < 8; j++)
		most[j] = extreme(x + 32 * j, 32) / -127;
	d = put_half(b, extreme(most, 8) / -32);
	memset(b + 4, 0, 4);
	for (size_t j = 0; j < 8; j++) {
		int s = level(most[j], d, -32, 31);

		b[4 + j / 2] |= (unsigned char)((s + 32) % 16 << j % 2 * 4);
		high |= (uint16_t)((s + 32) / 16 << 2 * j);
		put_nibbles(iq4, x + 32 * j, 32, d * (float)s, b + 8 + 16 * j);
	}
	put16(b + 2, high);
}

static const float e2m1[] = { 0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6 };

/* [exponent of the scale, biased by 127][16 nibbles] */
void mxfp4_block(const float *x, unsigned char *b)
{
	float most = fabsf(extreme(x, 32)) / 6, half;
	int e;

	half = frexpf(most, &e);
	e = most > 0 ? e - (half <= 0.5f) : -127;
	b[0] = (unsigned char)(e + 127);
	put_nibbles(e2m1, x, 32, ldexpf(1, e), b + 1);
}

/* [4 scales: floats of 4 and 3 bits][4 times 8 nibbles] */
void nvfp4_block(const float *x, unsigned char *b)
{
	float scale[127];

	for (int i = 0; i < 127; i++)
		scale[i] = i < 8 ? ldexpf((float)i, -9) : ldexpf((float)(8 + i % 8), i / 8 - 10);
	for (size_t j = 0; j < 4; j++, x += 16) {
		b[j] = (unsigned char)nearest(scale, 127, fabsf(extreme(x, 16)) / 6, 1);
		put_nibbles(e2m1, x, 16, scale[b[j]], b + 4 + 8 * j);
	}
}

/* [half d][16: a bit an element, set for plus] */
void q1_0_block(const float *x, unsigned char *b)
{
	put_half(b, rms(x, 128) * 0.8f);
	memset(b + 2, 0, 16);
	for (size_t i = 0; i < 128; i++)
		b[2 + i / 8] |= (unsigned char)((x[i] >= 0) << i % 8);
}

/* [half d][16: two bits an element, biased by 1] */
void q2_0_block(const float *x, unsigned char *b)
{
	float d = put_half(b, rms(x, 64));

	memset(b + 2, 0, 16);
	for (size_t i = 0; i < 64; i++)
		b[2 + i / 4] |= (unsigned char)((level(x[i], d, -1, 2) + 1) << i % 4 * 2);
}

/* [64: as Q2_K][half d] */
void tq2_0_block(const float *x, unsigned char *b)
{
	float d = put_half(b + 64, rms(x, 256) * 1.2f);

	memset(b, 0, 64);
	for (size_t i = 0; i < 256; i++)
		b[i / 128 * 32 + i % 32] |= (unsigned char)((level(x[i], d, -1, 1) + 1) << 2 * (i % 128 / 32));
}

/* Digits to base 3 of elements `step` apart, the most significant first, as a fraction of 256, rounded up. */
static unsigned char ternary(const float *x, size_t step, int digits, float d)
{
	int sum = 0;

	for (int i = 0; i < 5; i++)
		sum = 3 * sum + (i < digits ? level(x[(size_t)i * step], d, -1, 1) + 1 : 0);
	return (unsigned char)((sum * 256 + 242) / 243);
}

/* [32: five digits each][16: five][4: four][half d] */
void tq1_0_block(const float *x, unsigned char *b)
{
	float d = put_half(b + 52, rms(x, 256) * 1.2f);

	for (size_t i = 0; i < 32; i++)
		b[i] = ternary(x + i, 32, 5, d);
	for (size_t i = 0; i < 16; i++)
		b[32 + i] = ternary(x + 160 + i, 16, 5, d);
	for (size_t i = 0; i < 4; i++)
		b[48 + i] = ternary(x + 240 + i, 4, 4, d);
}
