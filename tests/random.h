/* random: the random number generator of the unit programs: the same numbers everywhere (Marsaglia's xorshift32). A
 * program includes it in exactly one file. Test models use another one: mkrandom.h. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

static uint32_t random_state = 1;

static inline uint32_t random_bits(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	return random_state ^= random_state << 5;
}

/* From 0 to n - 1. */
static inline size_t random_below(size_t n)
{
	return random_bits() % n;
}

/* In [0, 1). */
static inline double random_unit(void)
{
	return random_bits() * 0x1p-32;
}

#endif
