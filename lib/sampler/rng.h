/* rng: a counter-based random number generator. Each number is a hash of (seed, position, id), so a draw does not
 * depend on how many draws came before: a chain inside fwd, the filter sample and a rerun from any position all draw
 * the same. Frozen: the outputs are part of the contract. */
#ifndef RNG_H
#define RNG_H

#include <stdint.h>

#include "lib/base/hash.h"

/* 64 bits: SplitMix64 (Steele, Lea, Flood 2014), whose finaliser is hash_mix(), over the three words in turn. */
uint64_t rng_bits(uint64_t seed, uint64_t position, uint64_t id);

/* The same as a number in (0, 1): (top 52 bits + 1/2) · 2^-52, exact in a double: fine enough to draw the least likely
 * id of a large vocabulary. */
double rng_real(uint64_t seed, uint64_t position, uint64_t id);

/* The same in two steps, for all ids of one position: rng_bits(seed, position, id) is rng_at(rng_key(seed, position),
 * id), and rng_real() is rng_fraction() of that. */
uint64_t rng_key(uint64_t seed, uint64_t position);

#define RNG_STEP UINT64_C(0x9e3779b97f4a7c15)   /* 2^64 / golden ratio, odd */

static inline uint64_t rng_at(uint64_t key, uint64_t id)
{
	return hash_mix((key ^ id) + RNG_STEP);
}

static inline double rng_fraction(uint64_t bits)
{
	return (double)(bits >> 11 | 1) * 0x1p-53;
}

/* A seed from the system's entropy, for -s -1. */
uint64_t rng_seed(void);

#endif
