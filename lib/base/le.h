/* le: little-endian numbers in unaligned bytes, read with one load each where the machine's order is the same. */
#ifndef LE_H
#define LE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Whether the machine is little-endian, too; a constant for the compiler. */
static inline int le_machine(void)
{
	const uint16_t one = 1;

	return *(const unsigned char *)&one;
}

/* The number in n bytes, on any machine. */
static inline uint64_t le_bytes(const void *p, size_t n)
{
	const unsigned char *b = p;
	uint64_t u = 0;

	while (n--)
		u = u << 8 | b[n];
	return u;
}

static inline uint32_t le32(const void *p)
{
	uint32_t u;

	memcpy(&u, p, sizeof u);
	return le_machine() ? u : (uint32_t)le_bytes(p, sizeof u);
}

static inline uint64_t le64(const void *p)
{
	uint64_t u;

	memcpy(&u, p, sizeof u);
	return le_machine() ? u : le_bytes(p, sizeof u);
}

/* Converts n numbers of `size` bytes each from little-endian to the machine's order, or back. */
static inline void le_convert(void *p, size_t size, size_t n)
{
	unsigned char *b = p, first;

	for (; !le_machine() && n; n--, b += size)
		for (size_t i = 0; i < size / 2; i++) {
			first = b[i];
			b[i] = b[size - 1 - i];
			b[size - 1 - i] = first;
		}
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
