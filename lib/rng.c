/* rng: SplitMix64's finaliser over seed, position and id in turn; the step between two words is its odd increment (2^64 / golden ratio). */
#include "rng.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t rng_bits(uint64_t seed, uint64_t position, uint64_t id)
{
	const uint64_t step = UINT64_C(0x9e3779b97f4a7c15);
	uint64_t z = mix(seed + step);

	z = mix((z ^ position) + step);
	return mix((z ^ id) + step);
}

float rng_unit(uint64_t seed, uint64_t position, uint64_t id)
{
	return (float)(rng_bits(seed, position, id) >> 40 | 1) * 0x1p-24f;
}

double rng_real(uint64_t seed, uint64_t position, uint64_t id)
{
	return (double)(rng_bits(seed, position, id) >> 11 | 1) * 0x1p-53;
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
	/* No such device: the clock and the process differ from run to run at least. */
	clock_gettime(CLOCK_REALTIME, &t);
	return rng_bits((uint64_t)t.tv_sec, (uint64_t)t.tv_nsec, (uint64_t)getpid());
}
