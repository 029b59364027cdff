/* mkrandom: the random number generator of the test models: 64 bits for a position in a stream, computed with integers
 * only (Stafford's Mix13 over a Weyl sequence). It is separate from lib/rng, whose outputs are part of the product's
 * contract. */
#ifndef MKRANDOM_H
#define MKRANDOM_H

#include <stdint.h>

static inline uint64_t mkrandom(uint64_t seed, uint64_t place)
{
	uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

#endif
