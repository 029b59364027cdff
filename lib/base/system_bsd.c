/* FreeBSD, NetBSD, OpenBSD and DragonFly. Their headers hide everything but POSIX from programs that ask for POSIX. */
#undef _XOPEN_SOURCE
#include "system.h"

#ifdef SYSTEM_BSD
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <stdint.h>

#if defined __aarch64__ && defined __FreeBSD__
#include <sys/auxv.h>
#endif

#ifndef HW_PHYSMEM64            /* FreeBSD and DragonFly: HW_PHYSMEM is 64 bits there */
#define HW_PHYSMEM64 HW_PHYSMEM
#endif

/* A number about the hardware, of 4 or 8 bytes; 0 if there is none. */
static uint64_t number(int which)
{
	union {
		uint32_t half;
		uint64_t whole;
	} n = { .whole = 0 };
	int name[] = { CTL_HW, which };
	size_t bytes = sizeof n;

	if (sysctl(name, 2, &n, &bytes, NULL, 0))
		return 0;
	return bytes == sizeof n.half ? n.half : n.whole;
}

size_t system_cores(void)
{
	size_t n = (size_t)number(HW_NCPU);

	return n ? n : 1;
}

size_t system_memory(void)
{
	return (size_t)number(HW_PHYSMEM64);
}

#if defined __aarch64__ && defined __FreeBSD__
int system_has_arm(enum system_feature f)
{
	unsigned long all = 0, more = 0;

	elf_aux_info(AT_HWCAP, &all, sizeof all);
	elf_aux_info(AT_HWCAP2, &more, sizeof more);
	return (f == SYSTEM_DOTPROD && all & HWCAP_ASIMDDP) || (f == SYSTEM_I8MM && more & HWCAP2_I8MM);
}
#elif defined __aarch64__
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
	struct rusage use;

	return getrusage(who, &use) ? 0 : (size_t)use.ru_maxrss << 10;
}

/* The posix_fallocate() of these systems, if any, also writes, or refuses. */
int system_allocate(int fd, off_t from, off_t to)
{
	return system_write_zeroes(fd, from, to);
}
#endif
