/* peaks: what an instruction set can do at most, to hold the engine's figures against (limits.h): its fastest
 * sequence of multiply-adds, on data that stays in registers and the first cache, and its fastest way through
 * memory. No result matters. */
#ifndef PEAKS_H
#define PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

enum { PEAK_BYTES = 1 << 14 };  /* that the loops go around in */

struct peaks {
	/* `rounds` rounds, each of so many multiply-adds, on data[PEAK_BYTES], 64-byte aligned: codes with
	 * activations, all bytes from 0 to 15; floats, from numbers of any kind. Each returns something that
	 * depends on all that it did. */
	size_t codes_each, floats_each;
	uint32_t (*codes)(const void *data, size_t rounds);
	uint32_t (*floats)(float a, float b, size_t rounds);

	/* Reads p[bytes], p 64-byte aligned, bytes a multiple of 256, with prefetches so far ahead into the second
	 * cache and so far into the first; 0: none. */
	uint32_t (*read)(const void *p, size_t bytes, size_t far, size_t near);
};

/* Of the instruction set of this table. */
const struct peaks *peaks_of(const struct kernels *k);

extern const struct peaks peaks_scalar;
extern const struct peaks peaks_avx2, peaks_avx512;     /* x86-64 only */
extern const struct peaks peaks_neon;                   /* aarch64 only */

#endif
