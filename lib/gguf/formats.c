/* formats: the table. */
#include "formats.h"

#include <string.h>

#include "blocks.h"
#include "dequantise.h"

static const struct format formats[] = {
	{ FORMAT_F32, "F32", 1, 4, dequantise_f32 },
	{ FORMAT_F16, "F16", 1, 2, dequantise_f16 },
	{ FORMAT_BF16, "BF16", 1, 2, dequantise_bf16 },
	{ FORMAT_Q4_0, "Q4_0", 32, sizeof(struct q4_0), dequantise_q4_0 },
	{ FORMAT_Q4_1, "Q4_1", 32, sizeof(struct q4_1), dequantise_q4_1 },
	{ FORMAT_Q5_0, "Q5_0", 32, sizeof(struct q5_0), dequantise_q5_0 },
	{ FORMAT_Q5_1, "Q5_1", 32, sizeof(struct q5_1), dequantise_q5_1 },
	{ FORMAT_Q8_0, "Q8_0", 32, sizeof(struct q8_0), dequantise_q8_0 },
	{ FORMAT_Q2_K, "Q2_K", 256, sizeof(struct q2_k), dequantise_q2_k },
	{ FORMAT_Q3_K, "Q3_K", 256, sizeof(struct q3_k), dequantise_q3_k },
	{ FORMAT_Q4_K, "Q4_K", 256, sizeof(struct q4_k), dequantise_q4_k },
	{ FORMAT_Q5_K, "Q5_K", 256, sizeof(struct q5_k), dequantise_q5_k },
	{ FORMAT_Q6_K, "Q6_K", 256, sizeof(struct q6_k), dequantise_q6_k },
};

/* The types without a row above: known by name and size only. */
static const struct layout {
	uint32_t id;
	const char *name;
	size_t block, bytes;
} layouts[] = {
	{ 9, "Q8_1", 32, 36 }, { 15, "Q8_K", 256, 292 },
	{ 16, "IQ2_XXS", 256, 66 }, { 17, "IQ2_XS", 256, 74 }, { 18, "IQ3_XXS", 256, 98 }, { 19, "IQ1_S", 256, 50 },
	{ 20, "IQ4_NL", 32, 18 }, { 21, "IQ3_S", 256, 110 }, { 22, "IQ2_S", 256, 82 }, { 23, "IQ4_XS", 256, 136 },
	{ 24, "I8", 1, 1 }, { 25, "I16", 1, 2 }, { 26, "I32", 1, 4 }, { 27, "I64", 1, 8 }, { 28, "F64", 1, 8 }, { 29, "IQ1_M", 256, 56 },
	{ 34, "TQ1_0", 256, 54 }, { 35, "TQ2_0", 256, 66 }, { 39, "MXFP4", 32, 17 }, { 40, "NVFP4", 64, 36 },
	{ 41, "Q1_0", 128, 18 }, { 42, "Q2_0", 64, 18 },
};

const struct format *format_of(uint32_t id)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i].id == id)
			return &formats[i];
	return NULL;
}

const char *format_layout(uint32_t id, size_t *block, size_t *bytes)
{
	const struct format *f = format_of(id);
	if (f) {
		*block = f->block;
		*bytes = f->bytes;
		return f->name;
	}
	for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
		if (layouts[i].id == id) {
			*block = layouts[i].block;
			*bytes = layouts[i].bytes;
			return layouts[i].name;
		}
	*block = *bytes = 0;
	return NULL;
}

static float from_bits(uint32_t u)
{
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

float f16_to_f32(uint16_t h)
{
	uint32_t sign = (uint32_t)(h >> 15) << 31, exponent = h >> 10 & 31, fraction = h & 1023;
	if (exponent == 31)
		return from_bits(sign | 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0));
	if (exponent)
		return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
	float f = (float)fraction * 0x1p-24f;           /* zero or subnormal: exact */
	return sign ? -f : f;
}

uint16_t f32_to_f16(float f)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	uint32_t sign = u >> 16 & 0x8000, magnitude = u & 0x7fffffff;
	if (magnitude > 0x7f800000)
		return (uint16_t)(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
	if (magnitude >= 0x47800000)                    /* 2^16 and more */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude < 0x38800000) {                   /* below 2^-14: the result is a count of 2^-24, which adding 0.5 puts in the low bits */
		float t = from_bits(magnitude) + 0.5f;
		memcpy(&u, &t, sizeof u);
		return (uint16_t)(sign | (u - 0x3f000000));
	}
	uint32_t rounded = magnitude + 0xfff + (magnitude >> 13 & 1);
	return (uint16_t)(sign | (rounded - 0x38000000) >> 13);
}

float bf16_to_f32(uint16_t h)
{
	return from_bits((uint32_t)h << 16);
}
