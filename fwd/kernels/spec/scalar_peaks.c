/* scalar_peaks: the multiply-adds of the specification, and nothing around them. */
#include <math.h>
#include <string.h>

#include "fwd/kernels/peaks.h"

enum { SUMS = 16 };

static uint32_t codes(const void *data, size_t rounds)
{
	const int8_t *w = data, *x = w + PEAK_BYTES / 2;
	uint32_t s[SUMS] = { 0 }, all = 0;

	for (size_t n = 0; n < rounds; n++)
		for (size_t i = 0, at = n % (PEAK_BYTES / 2 / SUMS) * SUMS; i < SUMS; i++)
			s[i] += (uint32_t)(w[at + i] * x[at + i]);
	for (int i = 0; i < SUMS; i++)
		all += s[i];
	return all;
}

static uint32_t floats(float a, float b, size_t rounds)
{
	float s[SUMS] = { 0 }, all = 0;

	for (size_t n = 0; n < rounds; n++)
		for (int i = 0; i < SUMS; i++)
			s[i] = fmaf(s[i], a, b);
	for (int i = 0; i < SUMS; i++)
		all += s[i];
	return all > 1;
}

static uint32_t read_words(const void *p, size_t bytes, size_t far, size_t near)
{
	uint64_t s[8] = { 0 }, word[8];

	for (const char *at = p, *end = at + bytes; at < end; at += sizeof word) {
		__builtin_prefetch(at + far, 0, 2);
		__builtin_prefetch(at + near, 0, 3);
		memcpy(word, at, sizeof word);
		for (int i = 0; i < 8; i++)
			s[i] += word[i];
	}
	return (uint32_t)(s[0] + s[1] + s[2] + s[3] + s[4] + s[5] + s[6] + s[7]);
}

const struct peaks peaks_scalar = { .codes_each = SUMS, .floats_each = SUMS, .codes = codes, .floats = floats,
	.read = read_words };
