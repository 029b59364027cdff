/* quantise_grid: blocks (quantise.h) of types whose codes are rows of a codebook; the books are lib/gguf's. */
#include "quantise_blocks.h"

#include <math.h>
#include <string.h>

#include "lib/gguf/grids.h"

/* The row nearest to x, or with no bias to its magnitudes: row r stands for scale · (byte - bias), for `width` bytes
 * from grid + r · width on. */
static unsigned nearest(const void *grid, size_t rows, size_t width, const float *x, float scale, float bias,
	float *error)
{
	const unsigned char *row = grid;
	unsigned best = 0;

	*error = INFINITY;
	for (unsigned r = 0; r < rows; r++, row += width) {
		float sum = 0;

		for (size_t i = 0; i < width; i++) {
			float e = (bias == 0 ? fabsf(x[i]) : x[i]) - scale * ((float)row[i] - bias);

			sum += e * e;
		}
		if (sum < *error) {
			*error = sum;
			best = r;
		}
	}
	return best;
}

/* ---- magnitudes and signs ---- */

struct codebook {
	const void *grid;
	size_t rows, width, run;        /* elements of a row; of a scale */
	float top, unit;                /* the largest code; scales are d · (2s + 1) / unit */
	int even;                       /* the number of signs of eight elements is even */
};

struct codes {
	int scale[16];
	unsigned row[64], signs[32];
};

/* The signs of eight elements. To make them even, the smallest one's changes. */
static unsigned signs_of(const float *x, int even)
{
	unsigned signs = 0, odd = 0;
	size_t least = 0;

	for (size_t i = 0; i < 8; i++) {
		signs |= (unsigned)(x[i] < 0) << i;
		odd ^= x[i] < 0;
		least = fabsf(x[i]) < fabsf(x[least]) ? i : least;
	}
	return even && odd ? signs ^ 1u << least : signs;
}

/* 256 elements; d is stored at half. */
static struct codes encode(const struct codebook *k, const float *x, unsigned char *half)
{
	struct codes o;
	float most[16] = { 0 }, d, error;
	size_t runs = 256 / k->run;

	for (size_t j = 0; j < runs; j++)
		most[j] = fabsf(extreme(x + j * k->run, k->run)) * 0.9f / k->top;
	d = put_half(half, extreme(most, runs) * k->unit / 31);
	for (size_t j = 0; j < runs; j++)
		o.scale[j] = level(most[j] * k->unit - d, 2 * d, 0, 15);
	for (size_t i = 0; i < 256; i += k->width)
		o.row[i / k->width] = nearest(k->grid, k->rows, k->width, x + i,
			d * (float)(2 * o.scale[i / k->run] + 1) / k->unit, 0, &error);
	for (size_t g = 0; g < 32; g++)
		o.signs[g] = signs_of(x + 8 * g, k->even);
	return o;
}

/* The low seven signs of four groups, and the scale above them. */
static void put_signs_and_scale(unsigned char *b, const unsigned *signs, int scale)
{
	uint32_t u = (uint32_t)scale << 28;

	for (size_t i = 0; i < 4; i++)
		u |= (signs[i] & 127) << 7 * i;
	put16(b, (uint16_t)u);
	put16(b + 2, (uint16_t)(u >> 16));
}

/* [half d][8 times: 4 rows, 4: signs and scale] */
void iq2_xxs_block(const float *x, unsigned char *b)
{
	static const struct codebook k = { grids.iq2_xxs, 256, 8, 32, 43, 8, 1 };
	struct codes c = encode(&k, x, b);

	for (size_t j = 0; j < 8; j++) {
		for (size_t i = 0; i < 4; i++)
			b[2 + 8 * j + i] = (unsigned char)c.row[4 * j + i];
		put_signs_and_scale(b + 6 + 8 * j, c.signs + 4 * j, c.scale[j]);
	}
}

/* [half d][32 times 16 bits: row, signs][8: scales as nibbles] */
void iq2_xs_block(const float *x, unsigned char *b)
{
	static const struct codebook k = { grids.iq2_xs, 512, 8, 16, 43, 8, 1 };
	struct codes c = encode(&k, x, b);

	for (size_t g = 0; g < 32; g++)
		put16(b + 2 + 2 * g, (uint16_t)(c.row[g] | (c.signs[g] & 127) << 9));
	for (size_t j = 0; j < 8; j++)
		b[66 + j] = (unsigned char)(c.scale[2 * j] | c.scale[2 * j + 1] << 4);
}

/* [half d][32: low bytes of rows][32: signs][8: high pairs of rows][8: scales] */
void iq2_s_block(const float *x, unsigned char *b)
{
	static const struct codebook k = { grids.iq2_s, 1024, 8, 16, 43, 8, 0 };
	struct codes c = encode(&k, x, b);

	memset(b + 66, 0, 8);
	for (size_t g = 0; g < 32; g++) {
		b[2 + g] = (unsigned char)c.row[g];
		b[34 + g] = (unsigned char)c.signs[g];
		b[66 + g / 4] |= (unsigned char)(c.row[g] >> 8 << g % 4 * 2);
	}
	for (size_t j = 0; j < 8; j++)
		b[74 + j] = (unsigned char)(c.scale[2 * j] | c.scale[2 * j + 1] << 4);
}

/* [half d][64 rows][8 times 4: signs and scale] */
void iq3_xxs_block(const float *x, unsigned char *b)
{
	static const struct codebook k = { grids.iq3_xxs, 256, 4, 32, 62, 4, 1 };
	struct codes c = encode(&k, x, b);

	for (size_t n = 0; n < 64; n++)
		b[2 + n] = (unsigned char)c.row[n];
	for (size_t j = 0; j < 8; j++)
		put_signs_and_scale(b + 66 + 4 * j, c.signs + 4 * j, c.scale[j]);
}

/* [half d][64: low bytes of rows][8: their high bits][32: signs][4: scales] */
void iq3_s_block(const float *x, unsigned char *b)
{
	static const struct codebook k = { grids.iq3_s, 512, 4, 32, 15, 1, 0 };
	struct codes c = encode(&k, x, b);

	memset(b + 66, 0, 8);
	for (size_t n = 0; n < 64; n++) {
		b[2 + n] = (unsigned char)c.row[n];
		b[66 + n / 8] |= (unsigned char)(c.row[n] >> 8 << n % 8);
	}
	for (size_t g = 0; g < 32; g++)
		b[74 + g] = (unsigned char)c.signs[g];
	for (size_t j = 0; j < 4; j++)
		b[106 + j] = (unsigned char)(c.scale[2 * j] | c.scale[2 * j + 1] << 4);
}

/* ---- ternary rows ---- */

/* value = d · (2s + 1) · (ternary ± 1/8) */
struct ternary {
	int scale[16], minus[32];       /* minus an eighth */
	unsigned row[32];
};

/* Scales for each `run` elements, the eighth's sign for each `shared`, both multiples of 8. */
static struct ternary encode_ternary(const float *x, size_t run, size_t shared, unsigned char *half)
{
	struct ternary o;
	float most[16] = { 0 }, d;

	for (size_t j = 0; j < 256 / run; j++)
		most[j] = fabsf(extreme(x + j * run, run)) * 0.6f;
	d = put_half(half, extreme(most, 256 / run) / 15);
	for (size_t j = 0; j < 256 / run; j++)
		o.scale[j] = level(most[j] - d, 2 * d, 0, 7);
	for (size_t g = 0; g < 32; g += shared / 8) {
		float scale = d * (float)(2 * o.scale[g * 8 / run] + 1) / 8, least = INFINITY;

		for (int minus = 0; minus < 2; minus++) {
			float error = 0, e;
			unsigned row[4];

			for (size_t i = 0; i < shared / 8; i++) {
				row[i] = nearest(grids.iq1, 2048, 8, x + (g + i) * 8, scale,
					(float)(GRID_IQ1_BIAS + (minus ? 1 : -1)), &e);
				error += e;
			}
			for (size_t i = 0; i < shared / 8 && error < least; i++) {
				o.row[g + i] = row[i];
				o.minus[g + i] = minus;
			}
			least = fminf(least, error);
		}
	}
	return o;
}

/* [half d][32: low bytes of rows][8 times 16 bits: four times 3 high bits, scale, minus] */
void iq1_s_block(const float *x, unsigned char *b)
{
	struct ternary t = encode_ternary(x, 32, 32, b);

	for (size_t g = 0; g < 32; g++)
		b[2 + g] = (unsigned char)t.row[g];
	for (size_t j = 0; j < 8; j++) {
		unsigned u = (unsigned)t.scale[j] << 12 | (unsigned)t.minus[4 * j] << 15;

		for (size_t i = 0; i < 4; i++)
			u |= t.row[4 * j + i] >> 8 << 3 * i;
		put16(b + 34 + 2 * j, (uint16_t)u);
	}
}

/* [32: low bytes of rows][32 nibbles: 3 high bits, minus][4 times 16 bits: four scales, a nibble of d] */
void iq1_m_block(const float *x, unsigned char *b)
{
	unsigned char half[2];
	struct ternary t = encode_ternary(x, 16, 8, half);
	unsigned d = half[0] | (unsigned)half[1] << 8;

	memset(b + 32, 0, 16);
	for (size_t g = 0; g < 32; g++) {
		b[g] = (unsigned char)t.row[g];
		b[32 + g / 2] |= (unsigned char)((t.row[g] >> 8 | (unsigned)t.minus[g] << 3) << g % 2 * 4);
	}
	for (size_t w = 0; w < 4; w++) {
		unsigned u = d >> 4 * w << 12;

		for (size_t i = 0; i < 4; i++)
			u |= (unsigned)t.scale[4 * w + i] << 3 * i;
		put16(b + 48 + 2 * w, (uint16_t)u);
	}
}
