/* sha256, straight from FIPS 180-4. The constants are the fractional parts of roots of primes, computed from that
 * definition. */
#include "sha256.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint32_t k[64], start[8];

static uint32_t fraction(double root)
{
	return (uint32_t)((root - floor(root)) * 0x1p32);
}

static void make_constants(void)
{
	int n = 0;

	for (int p = 2; n < 64; p++) {
		int prime = 1;

		for (int d = 2; d * d <= p; d++)
			prime &= p % d != 0;
		if (!prime)
			continue;
		if (n < 8)
			start[n] = fraction(sqrt(p));
		k[n++] = fraction(cbrt(p));
	}
}

static uint32_t turn(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void block(uint32_t h[8], const unsigned char *p)
{
	uint32_t w[64], v[8];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8
			| p[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7]
			+ (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
	memcpy(v, h, sizeof v);
	for (int i = 0; i < 64; i++) {
		uint32_t a = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4],
			25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
		uint32_t b = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0],
			22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof *v);
		v[4] += a;
		v[0] = a + b;
	}
	for (int i = 0; i < 8; i++)
		h[i] += v[i];
}

void sha256(const void *s, size_t n, char out[65])
{
	unsigned char last[128] = { 0 };
	const unsigned char *p = s;
	size_t left = n % 64, tail = left < 56 ? 64 : 128;
	uint32_t h[8];

	if (!k[0])
		make_constants();
	memcpy(h, start, sizeof h);
	for (size_t i = 0; i < n / 64; i++)
		block(h, p + 64 * i);
	if (left)
		memcpy(last, p + (n - left), left);
	last[left] = 0x80;
	for (int i = 0; i < 8; i++)
		last[tail - 1 - (size_t)i] = (unsigned char)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < tail; i += 64)
		block(h, last + i);
	for (int i = 0; i < 8; i++)
		snprintf(out + 8 * i, 9, "%08x", (unsigned)h[i]);
}
