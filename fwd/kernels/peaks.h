/* peaks: loops that measure what an instruction set can do at most: the highest rate of multiply-adds, on data that
 * stays in registers and the L1 cache, and the highest rate of reading memory. The engine's speed is compared with
 * these (limits.h). The values computed do not matter. */
#ifndef PEAKS_H
#define PEAKS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels.h"

enum { PEAK_BYTES = 1 << 14 };  /* of data that the loops read again and again */

struct peaks {
	/* Each runs `rounds` rounds of codes_each or floats_each multiply-adds and returns a value that depends on
	 * all of them, so that none is optimised away. codes() multiplies codes by activations, both from
	 * data[PEAK_BYTES], 64-byte aligned, all bytes from 0 to 15; floats() may start from any two numbers. */
	size_t codes_each, floats_each;
	uint32_t (*codes)(const void *data, size_t rounds);
	uint32_t (*floats)(float a, float b, size_t rounds);

	/* Reads p[bytes], p 64-byte aligned, bytes a multiple of 256. Prefetches `far` bytes ahead into the L2 cache
	 * and `near` bytes ahead into L1; 0: no prefetch. */
	uint32_t (*read)(const void *p, size_t bytes, size_t far, size_t near);
};

/* The loops for the instruction set of k. */
const struct peaks *peaks_of(const struct kernels *k);

#define PEAKS_DECLARE(isa, feature) extern const struct peaks peaks_##isa;
PEAKS_DECLARE(scalar, SYSTEM_ANY)
KERNELS_ISAS(PEAKS_DECLARE)

#endif
