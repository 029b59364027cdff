/* rng: SplitMix64's finaliser over seed, position and id in turn; the step between two words is its odd increment. */
#include "rng.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

uint64_t rng_key(uint64_t seed, uint64_t position)
{
	return hash_mix((hash_mix(seed + RNG_STEP) ^ position) + RNG_STEP);
}

uint64_t rng_bits(uint64_t seed, uint64_t position, uint64_t id)
{
	return rng_at(rng_key(seed, position), id);
}

double rng_real(uint64_t seed, uint64_t position, uint64_t id)
{
	return rng_fraction(rng_bits(seed, position, id));
}

uint64_t rng_seed(void)
{
	uint64_t seed = 0;
	struct timespec t;
	int fd = open("/dev/urandom", O_RDONLY);

	if (fd >= 0 && read(fd, &seed, sizeof seed) == (ssize_t)sizeof seed) {
		close(fd);
		return seed;
	}
	if (fd >= 0)
		close(fd);
	/* No such device: clock and process id differ from run to run at least. */
	clock_gettime(CLOCK_REALTIME, &t);
	return rng_bits((uint64_t)t.tv_sec, (uint64_t)t.tv_nsec, (uint64_t)getpid());
}
