/* macOS and its relatives. A thread cannot be pinned to a CPU, and record locks on shared memory fail. */
#define _DARWIN_C_SOURCE
#include "system.h"

#ifdef SYSTEM_DARWIN
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/sysctl.h>
#include <unistd.h>

/* A named number of the system, of 4 or 8 bytes; 0 if there is none. */
static uint64_t number(const char *name)
{
	union {
		uint32_t half;
		uint64_t whole;
	} n = { .whole = 0 };
	size_t bytes = sizeof n;

	if (sysctlbyname(name, &n, &bytes, NULL, 0))
		return 0;
	return bytes == sizeof n.half ? n.half : n.whole;
}

/* Kind 0 is the fastest. With only one kind, the system may not report kinds. */
size_t system_cores(void)
{
	size_t n = (size_t)number("hw.perflevel0.physicalcpu");

	if (!n)
		n = (size_t)number("hw.physicalcpu");
	return n ? n : 1;
}

size_t system_memory(void)
{
	return (size_t)number("hw.memsize");
}

#ifdef __aarch64__
int system_has_arm(enum system_feature f)
{
	return (f == SYSTEM_DOTPROD && number("hw.optional.arm.FEAT_DotProd"))
	       || (f == SYSTEM_I8MM && number("hw.optional.arm.FEAT_I8MM")) || system_built_with(f);
}
#endif

int system_allow_amx(void)
{
	return 0;
}

size_t system_peak_memory(int who)
{
	struct rusage use;

	return getrusage(who, &use) ? 0 : (size_t)use.ru_maxrss;
}

/* The system allocates after the end of the file. If the file system cannot do that, zeros are written. */
int system_allocate(int fd, off_t from, off_t to)
{
	fstore_t room = { .fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE };
	struct stat st;

	if (fstat(fd, &st))
		return errno;
	if (st.st_size >= to)
		return 0;
	room.fst_length = to - st.st_size;
	if (!fcntl(fd, F_PREALLOCATE, &room))
		return ftruncate(fd, to) ? errno : 0;
	return errno == ENOTSUP || errno == EINVAL ? system_write_zeroes(fd, from, to) : errno;
}

struct timespec system_modified(const struct stat *st)
{
	return st->st_mtimespec;
}
#endif
