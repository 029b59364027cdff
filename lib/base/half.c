#include "half.h"

#include <string.h>

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
	/* below 2^-14: the result is a count of 2^-24, which adding 0.5 puts in the low bits */
	if (magnitude < 0x38800000) {
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
