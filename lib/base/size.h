/* size: arithmetic of sizes. */
#ifndef SIZE_H
#define SIZE_H

#include <stddef.h>

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t size_max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* n / each, rounded up. */
static inline size_t size_divide_up(size_t n, size_t each)
{
	return (n + each - 1) / each;
}

#endif
