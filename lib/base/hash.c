/* hash_data(): four independent lanes hide the latency of the multiplication. */
#include "hash.h"

#include <string.h>

/* Arbitrary odd constants with well-spread bits: the fractional parts of sqrt(2), sqrt(3), sqrt(5) and sqrt(7), made
 * odd. */
static const uint64_t odd[4] = { 0x6a09e667f3bcc909, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1 };

static uint64_t absorb(uint64_t lane, uint64_t word, uint64_t by)
{
	lane = (lane ^ word) * by;
	return lane << 29 | lane >> 35;
}

uint64_t hash_data(const void *data, size_t n, uint64_t seed)
{
	uint64_t a = seed ^ odd[0], b = seed ^ odd[1], c = seed ^ odd[2], d = seed ^ odd[3];
	const unsigned char *p = data, *end = p + n;
	unsigned char last[32] = { 0 };

	while (p < end) {
		if (end - p < 32) {
			memcpy(last, p, (size_t)(end - p));
			p = last;
			end = last + 32;
		}
		a = absorb(a, le64(p), odd[0]);
		b = absorb(b, le64(p + 8), odd[1]);
		c = absorb(c, le64(p + 16), odd[2]);
		d = absorb(d, le64(p + 24), odd[3]);
		p += 32;
	}
	return hash_mix(hash_mix(hash_mix(hash_mix(n + a) + b) + c) + d);
}
