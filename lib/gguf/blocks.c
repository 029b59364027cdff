/* blocks: the definition of each tensor type's bits. The scalar kernels use these readers, and the tests compare
 * everything else with them, so they are written to be checked against the types' definitions, not to be fast. */
#include "blocks.h"

#include <math.h>
#include <string.h>

#include "grids.h"
#include "lib/base/half.h"

static uint16_t u16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const unsigned char *p)
{
	return u16(p) | (uint32_t)u16(p + 2) << 16;
}

static float f16(const f16_bytes h)
{
	return f16_to_f32(u16(h));
}

float widen_f32(const void *element)
{
	uint32_t bits = u32(element);
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

const int8_t iq4_values[16] = { -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113 };

void read_iq4_nl(const void *block, struct block_values *out)
{
	const struct iq4_nl *b = block;

	out->scale[0] = f16(b->d);
	for (int i = 0; i < 32; i++)
		out->code[i] = iq4_values[nibble(b->qs, i)];
}

static const int8_t e2m1_values[16] = E2M1_VALUES(0);

/* The codes are twice the values, so the scale is 2^(e - 127) / 2. */
void read_mxfp4(const void *block, struct block_values *out)
{
	const struct mxfp4 *b = block;

	out->scale[0] = ldexpf(1, b->e - 128);
	for (int i = 0; i < 32; i++)
		out->code[i] = e2m1_values[nibble(b->qs, i)];
}

/* ---- blocks of 64 and 128 ---- */

/* An unsigned float: four bits of exponent, three of mantissa. Bit 7 is ignored, but 0x7f alone is zero. */
static float ue4m3(uint8_t u)
{
	int e = u >> 3 & 15, m = u & 7;

	return u == 0x7f ? 0 : e ? ldexpf((float)(8 + m), e - 10) : ldexpf((float)m, -9);
}

/* Each scale has eight bytes, whose low nibbles are its elements 0 to 7, the high ones 8 to 15. The codes are twice the
 * values. */
void read_nvfp4(const void *block, struct block_values *out)
{
	const struct nvfp4 *b = block;

	for (int j = 0; j < 4; j++)
		out->scale[j] = ue4m3(b->scales[j]) / 2;
	for (int i = 0; i < 64; i++)
		out->code[i] = e2m1_values[b->qs[i / 16 * 8 + i % 8] >> i % 16 / 8 * 4 & 15];
}

/* n scales, all the same. */
static void one_scale(const f16_bytes d, int n, struct block_values *out)
{
	for (int j = 0; j < n; j++)
		out->scale[j] = f16(d);
}

void read_q2_0(const void *block, struct block_values *out)
{
	const struct q2_0 *b = block;

	one_scale(b->d, 2, out);
	for (int i = 0; i < 64; i++)
		out->code[i] = (b->qs[i / 4] >> i % 4 * 2 & 3) - 1;
}

void read_q1_0(const void *block, struct block_values *out)
{
	const struct q1_0 *b = block;

	one_scale(b->d, 4, out);
	for (int i = 0; i < 128; i++)
		out->code[i] = b->qs[i / 8] >> i % 8 & 1 ? 1 : -1;
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

/* Scale j has six bits and an offset of 32: the low four are a nibble, the high two a bit pair of 16 bits. */
void read_iq4_xs(const void *block, struct block_values *out)
{
	const struct iq4_xs *b = block;

	for (int j = 0; j < 8; j++) {
		int low = b->low[j / 2] >> j % 2 * 4 & 15, high = u16(b->high) >> j * 2 & 3;

		out->scale[j] = f16(b->d) * (float)((low | high << 4) - 32);
	}
	for (int i = 0; i < 256; i++)
		out->code[i] = iq4_values[nibble(b->qs + i / 32 * 16, i % 32)];
}

void read_tq2_0(const void *block, struct block_values *out)
{
	const struct tq2_0 *b = block;

	one_scale(b->d, 8, out);
	for (int i = 0; i < 256; i++)
		out->code[i] = bit_pair(b->qs, i) - 1;
}

/* Digit k of a byte, which is five digits to base 3 as a fraction, the most significant first. */
static int ternary_digit(uint8_t byte, int k)
{
	static const int power[] = { 1, 3, 9, 27, 81 };

	return (byte * power[k] & 255) * 3 >> 8;
}

/* The first digits of 32 bytes, their second ones, and so on, then the same of 16 bytes, then four digits of 4. */
void read_tq1_0(const void *block, struct block_values *out)
{
	const struct tq1_0 *b = block;

	one_scale(b->d, 8, out);
	for (int i = 0; i < 160; i++)
		out->code[i] = ternary_digit(b->qs[i % 32], i / 32) - 1;
	for (int i = 0; i < 80; i++)
		out->code[160 + i] = ternary_digit(b->qs[32 + i % 16], i / 16) - 1;
	for (int i = 0; i < 16; i++)
		out->code[240 + i] = ternary_digit(b->qh[i % 4], i / 4) - 1;
}

/* ---- super-blocks of 256 whose codes are rows of a codebook (grids.h), with signs ---- */

/* Eight codes. Bit i of signs makes code i negative. */
static void put_row(int8_t *code, uint64_t row, int signs)
{
	for (int i = 0; i < 8; i++)
		code[i] = (int8_t)((signs >> i & 1 ? -1 : 1) * (int)(row >> 8 * i & 255));
}

/* Seven signs of eight: the number of negative elements is even. */
static int even_signs(unsigned signs)
{
	int odd = 0;

	signs &= 127;
	for (unsigned u = signs; u; u &= u - 1)
		odd ^= 1;
	return (int)signs | odd << 7;
}

/* A scale of n bits at bit `at`: d · (2s + 1) · unit. */
static float odd_scale(float d, unsigned bits, int at, unsigned mask, float unit)
{
	return d * (float)(2 * (bits >> at & mask) + 1) * unit;
}

/* 32 elements have four 7-bit codes of signs and above them their scale, in 32 bits. */
void read_iq2_xxs(const void *block, struct block_values *out)
{
	const struct iq2_xxs *b = block;

	for (int g = 0; g < 32; g++) {
		uint32_t u = u32(b->run[g / 4].signs);

		out->scale[g / 4] = odd_scale(f16(b->d), u, 28, 15, 0.125f);
		put_row(out->code + 8 * g, grids.iq2_xxs[b->run[g / 4].qs[g % 4]], even_signs(u >> g % 4 * 7));
	}
}

/* Eight elements have 16 bits: nine of the row, seven of the signs. */
void read_iq2_xs(const void *block, struct block_values *out)
{
	const struct iq2_xs *b = block;

	for (int j = 0; j < 16; j++)
		out->scale[j] = odd_scale(f16(b->d), b->scales[j / 2], j % 2 * 4, 15, 0.125f);
	for (int g = 0; g < 32; g++)
		put_row(out->code + 8 * g, grids.iq2_xs[u16(b->qs[g]) & 511], even_signs(u16(b->qs[g]) >> 9));
}

void read_iq2_s(const void *block, struct block_values *out)
{
	const struct iq2_s *b = block;

	for (int j = 0; j < 16; j++)
		out->scale[j] = odd_scale(f16(b->d), b->scales[j / 2], j % 2 * 4, 15, 0.125f);
	for (int g = 0; g < 32; g++)
		put_row(out->code + 8 * g, grids.iq2_s[b->qs[g] | (b->qh[g / 4] >> g % 4 * 2 & 3) << 8], b->signs[g]);
}

/* Rows have four elements; signs and scales as in IQ2_XXS. */
void read_iq3_xxs(const void *block, struct block_values *out)
{
	const struct iq3_xxs *b = block;

	for (int g = 0; g < 32; g++) {
		uint32_t u = u32(b->signs[g / 4]);
		uint64_t row = grids.iq3_xxs[b->qs[2 * g]] | (uint64_t)grids.iq3_xxs[b->qs[2 * g + 1]] << 32;

		out->scale[g / 4] = odd_scale(f16(b->d), u, 28, 15, 0.25f);
		put_row(out->code + 8 * g, row, even_signs(u >> g % 4 * 7));
	}
}

void read_iq3_s(const void *block, struct block_values *out)
{
	const struct iq3_s *b = block;
	int at[64];

	for (int n = 0; n < 64; n++)
		at[n] = b->qs[n] | (b->qh[n / 8] >> n % 8 & 1) << 8;
	for (int j = 0; j < 8; j++)
		out->scale[j] = odd_scale(f16(b->d), b->scales[j / 2], j % 2 * 4, 15, 1);
	for (int g = 0; g < 32; g++)
		put_row(out->code + 8 * g, grids.iq3_s[at[2 * g]] | (uint64_t)grids.iq3_s[at[2 * g + 1]] << 32,
			b->signs[g]);
}

/* Eight ternary elements, plus or minus an eighth: codes are eighths. Of four bits, three are the row's upper ones and
 * the last says minus. */
static void put_ternary(int8_t *code, int low, int high)
{
	for (int i = 0; i < 8; i++) {
		int value = (int)(grids.iq1[low | (high & 7) << 8] >> 8 * i & 255) - GRID_IQ1_BIAS;

		code[i] = (int8_t)(value + (high & 8 ? -1 : 1));
	}
}

/* 16 bits for 32 elements: four times three bits of the row, the scale, and the sign of the eighth. */
void read_iq1_s(const void *block, struct block_values *out)
{
	const struct iq1_s *b = block;

	for (int g = 0; g < 32; g++) {
		int u = u16(b->qh[g / 4]);

		out->scale[g / 4] = odd_scale(f16(b->d), (unsigned)u, 12, 7, 0.125f);
		put_ternary(out->code + 8 * g, b->qs[g], (u >> g % 4 * 3 & 7) | u >> 15 << 3);
	}
}

/* The four words of scales have three bits for each sixteen elements and, on top, a nibble of d. */
void read_iq1_m(const void *block, struct block_values *out)
{
	const struct iq1_m *b = block;
	unsigned d = 0;

	for (int i = 0; i < 4; i++)
		d |= (unsigned)(u16(b->scales[i]) >> 12) << 4 * i;
	for (int j = 0; j < 16; j++)
		out->scale[j] = odd_scale(f16_to_f32((uint16_t)d), u16(b->scales[j / 4]), j % 4 * 3, 7, 0.125f);
	for (int g = 0; g < 32; g++)
		put_ternary(out->code + 8 * g, b->qs[g], b->qh[g / 2] >> g % 2 * 4 & 15);
}
