/* le: reads little-endian numbers from unaligned bytes, with one load each. */
#ifndef LE_H
#define LE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t le16(const void *p)
{
	uint16_t u;

	memcpy(&u, p, sizeof u);
	return le16toh(u);
}

static inline uint32_t le32(const void *p)
{
	uint32_t u;

	memcpy(&u, p, sizeof u);
	return le32toh(u);
}

static inline uint64_t le64(const void *p)
{
	uint64_t u;

	memcpy(&u, p, sizeof u);
	return le64toh(u);
}

static inline float le_float(const void *p)
{
	uint32_t u = le32(p);
	float f;

	memcpy(&f, &u, sizeof f);
	return f;
}

static inline double le_double(const void *p)
{
	uint64_t u = le64(p);
	double d;

	memcpy(&d, &u, sizeof d);
	return d;
}

#endif
