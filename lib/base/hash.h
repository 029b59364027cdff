/* hash: hash functions, the same on every machine; none is cryptographic.
 *
 *	hash_mix()	a number: as good as a random number
 *	hash_add()	the next number of a key; for tables in memory
 *	hash_text()	a short text, by hash_add(); for tables in memory
 *	hash_data()	any data, several GB/s; frozen, because fingerprints in files are made of it
 */
#ifndef HASH_H
#define HASH_H

#include <stddef.h>
#include <stdint.h>

#include "le.h"

/* SplitMix64's finaliser (Stafford's Mix13): every bit of z reaches every bit of the result. Frozen, too. */
static inline uint64_t hash_mix_last(uint64_t z)
{
	return z ^ z >> 31;
}

/* What hash_mix() is the hash_mix_last() of: the top 31 bits are the same. */
static inline uint64_t hash_mix_first(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
}

static inline uint64_t hash_mix(uint64_t z)
{
	return hash_mix_last(hash_mix_first(z));
}

/* The hash of what h is a hash of, and a word. */
static inline uint64_t hash_add(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 32;
}

/* The first 8 bytes of s[n] as a number, or all bytes of fewer; n is not 0. */
static inline uint64_t hash_first(const void *s, size_t n)
{
	const unsigned char *p = s;

	if (n >= 8)
		return le64(p);
	if (n >= 4)
		return le32(p) | (uint64_t)le32(p + n - 4) << 8 * (n - 4);
	return p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
}

/* Of a text whose first and last 8 bytes are these, or both times all of fewer. */
static inline uint64_t hash_between(const unsigned char *s, size_t n, uint64_t first, uint64_t last)
{
	uint64_t h = (first + n) * UINT64_C(0xbf58476d1ce4e5b9) & -(uint64_t)(n > 8);

	for (size_t i = 8; i + 8 < n; i += 8)
		h = hash_add(h, le64(s + i));
	return hash_add(0, h + last);
}

static inline uint64_t hash_text(const void *s, size_t n)
{
	uint64_t first = n ? hash_first(s, n) : 0;

	return hash_between(s, n, first, n < 8 ? first : le64((const unsigned char *)s + n - 8));
}

/* The same without a branch. n is not 0, and the 8 bytes before the end of s[n] can be read. */
static inline uint64_t hash_text_inside(const void *s, size_t n)
{
	const unsigned char *p = s;
	size_t lack = (8 - n) & -(size_t)(n < 8);

	return hash_between(p, n, le64(p - lack) >> 8 * lack, le64(p + n - 8) >> 8 * lack);
}

/* seed: the hash of what comes before. */
uint64_t hash_data(const void *data, size_t n, uint64_t seed);

#endif
