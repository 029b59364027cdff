/* mkrandom: the random number generator of the test models: 64 bits for a position in a stream, computed with integers
 * only (hash_mix() over a Weyl sequence). It is separate from lib/rng, whose outputs are part of the product's
 * contract. */
#ifndef MKRANDOM_H
#define MKRANDOM_H

#include <stdint.h>

#include "lib/base/hash.h"

static inline uint64_t mkrandom(uint64_t seed, uint64_t place)
{
	return hash_mix(seed + (place + 1) * 0x9e3779b97f4a7c15u);
}

#endif
