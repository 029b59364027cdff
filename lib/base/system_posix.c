/* Any system, with nothing beyond POSIX. Two names are used only if they are defined: the number of processors, which
 * came with POSIX.1-2024, and the size of memory, which most systems have. */
#include "system.h"

#ifdef SYSTEM_POSIX
#include <unistd.h>

#ifdef _SC_NPROCESSORS_ONLN
size_t system_cores(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (size_t)n : 1;
}
#else
size_t system_cores(void)
{
	return 1;
}
#endif

#ifdef _SC_PHYS_PAGES
size_t system_memory(void)
{
	return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}
#else
size_t system_memory(void)
{
	return 0;
}
#endif

#ifdef __aarch64__
int system_has_arm(enum system_feature f)
{
	return system_built_with(f);
}
#endif

int system_allow_amx(void)
{
	return 0;
}

size_t system_peak_memory(int who)
{
	return 0;
}

int system_allocate(int fd, off_t from, off_t to)
{
	return system_write_zeroes(fd, from, to);
}
#endif
