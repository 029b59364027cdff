/* Vectors of the compiler's own, which it divides into those of the instruction set. */
#include "inner.h"

#include <string.h>

#include "lib/base/system.h"

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x4 __attribute__((vector_size(32)));

/* Rows are read in the order of the file. The CPU's own prefetchers stop at the end of a page; this distance makes the
 * search 1.4 times as fast. */
enum { VECTORS = INNER_LANES / 4, BYTES = INNER_LANES * sizeof(float), AHEAD = 4096 };

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")

/* Adds the products of sixteen floats at p, of any alignment, to the accumulators: by q, or by themselves. */
INLINE void add(f64x4 s[VECTORS], const char *p, const double *q)
{
	UNROLL
	for (int i = 0; i < VECTORS; i++) {
		f32x4 x;
		f64x4 y;

		memcpy(&x, p + i * (int)sizeof x, sizeof x);
		memcpy(&y, q + 4 * i, sizeof y);
		s[i] += __builtin_convertvector(x, f64x4) * y;
	}
}

INLINE void add_squares(f64x4 s[VECTORS], const char *p)
{
	UNROLL
	for (int i = 0; i < VECTORS; i++) {
		f32x4 x;
		f64x4 y;

		memcpy(&x, p + i * (int)sizeof x, sizeof x);
		y = __builtin_convertvector(x, f64x4);
		s[i] += y * y;
	}
}

INLINE double tree(const f64x4 s[VECTORS])
{
	f64x4 v = (s[0] + s[2]) + (s[1] + s[3]);

	return (v[0] + v[2]) + (v[1] + v[3]);
}

INLINE double product(const char *p, const double *q, size_t n)
{
	f64x4 s[VECTORS] = { { 0 } };
	char last[BYTES] = { 0 };

	for (; n >= INNER_LANES; n -= INNER_LANES, p += BYTES, q += INNER_LANES) {
		__builtin_prefetch(p + AHEAD);
		add(s, p, q);
	}
	if (n) {
		memcpy(last, p, n * sizeof(float));
		add(s, last, q);
	}
	return tree(s);
}

INLINE double square(const char *p, size_t n)
{
	f64x4 s[VECTORS] = { { 0 } };
	char last[BYTES] = { 0 };

	for (; n >= INNER_LANES; n -= INNER_LANES, p += BYTES)
		add_squares(s, p);
	memcpy(last, p, n * sizeof(float));
	add_squares(s, last);
	return tree(s);
}

/* The functions of an instruction set, which the attribute selects. */
#define INNER(set, attribute) \
	attribute static double product_##set(const char *row, const double *q, size_t n) \
	{ \
		return product(row, q, n); \
	} \
	attribute static double square_##set(const char *row, size_t n) \
	{ \
		return square(row, n); \
	} \
	static const struct inner inner_##set = { product_##set, square_##set };

INNER(any, )
#if defined __x86_64__
INNER(avx2, __attribute__((target("avx2"))))

const struct inner *inner_select(void)
{
	return system_has(SYSTEM_AVX2) ? &inner_avx2 : &inner_any;
}
#else
const struct inner *inner_select(void)
{
	return &inner_any;
}
#endif
