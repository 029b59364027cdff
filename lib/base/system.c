/* What several systems share: CPU features of x86, read from the CPU itself; allocating space in a file by writing to
 * it; and functions that do nothing, for systems without the feature. */
#include "system.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SYSTEM_POSIX
#include <sys/ioctl.h>
#endif

#if defined __x86_64__
#include <cpuid.h>
#endif

/* ---- features ---- */

#if defined __x86_64__
/* The registers that the system saves, as bits of XCR0. Darwin sets the bits of AVX-512 only at their first use, and
 * before 21.3 it did not save all of these registers; so Macs use AVX2. */
enum { SAVES_AVX = 0x6, SAVES_AVX512 = 0xe6, SAVES_AMX = 0x60000 };

/* Not every compiler's cpuid.h has these. */
enum { BIT_AVX512BF16 = 1 << 5, BIT_AMX_BF16 = 1 << 22, BIT_AMX_TILE = 1 << 24 };

/* Asks the CPU itself, because not every compiler has the run-time part of __builtin_cpu_supports() or knows "f16c". */
static int has_x86(enum system_feature f)
{
	const unsigned base = bit_FMA | bit_OSXSAVE | bit_F16C;
	const unsigned wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
	unsigned a, b, c, d, saved, unused;
	int tiles;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & base) != base || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return 0;
	__asm__("xgetbv" : "=a"(saved), "=d"(unused) : "c"(0));
	if ((saved & SAVES_AVX) != SAVES_AVX || !(b & bit_AVX2))
		return 0;
	if (f == SYSTEM_AVX2)
		return 1;
	if ((saved & SAVES_AVX512) != SAVES_AVX512 || (b & wide) != wide || !(c & bit_AVX512VNNI))
		return 0;
	tiles = (d & BIT_AMX_TILE) && (d & BIT_AMX_BF16) && (saved & SAVES_AMX) == SAVES_AMX;
	if (f == SYSTEM_AVX512)
		return 1;
	if (!__get_cpuid_count(7, 1, &a, &b, &c, &d) || !(a & BIT_AVX512BF16))
		return 0;
	return f == SYSTEM_BF16 || (f == SYSTEM_AMX && tiles && system_allow_amx());
}

static int is_amd(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(0, &a, &b, &c, &d) && b == signature_AMD_ebx && d == signature_AMD_edx
	       && c == signature_AMD_ecx;
}

/* Remembers the answers, as the CPU's take long on a virtual machine. */
int system_has(enum system_feature f)
{
	static atomic_int known[SYSTEM_I8MM + 1];
	int has = f == SYSTEM_ANY ? 2 : atomic_load(&known[f]);

	if (!has) {
		has = 1 + (f == SYSTEM_ONE_STREAM ? is_amd() && has_x86(SYSTEM_AVX512) : has_x86(f));
		atomic_store(&known[f], has);
	}
	return has == 2;
}
#elif defined __aarch64__
#ifdef __ARM_FEATURE_DOTPROD
enum { BUILT_WITH_DOTPROD = 1 };
#else
enum { BUILT_WITH_DOTPROD = 0 };
#endif
#ifdef __ARM_FEATURE_MATMUL_INT8
enum { BUILT_WITH_I8MM = 1 };
#else
enum { BUILT_WITH_I8MM = 0 };
#endif

int system_built_with(enum system_feature f)
{
	return (f == SYSTEM_DOTPROD && BUILT_WITH_DOTPROD) || (f == SYSTEM_I8MM && BUILT_WITH_I8MM);
}

int system_has(enum system_feature f)
{
	return f == SYSTEM_ANY || system_has_arm(f);
}
#else
int system_has(enum system_feature f)
{
	return f == SYSTEM_ANY;
}
#endif

/* ---- space in files ---- */

int system_write_zeroes(int fd, off_t from, off_t to)
{
	static const char zeroes[1 << 16];
	ssize_t n;

	for (; from < to; from += n) {
		n = pwrite(fd, zeroes, to - from < (off_t)sizeof zeroes ? (size_t)(to - from) : sizeof zeroes, from);
		if (n < 0 && errno != EINTR)
			return errno;
		if (n < 0)
			n = 0;
	}
	return 0;
}

/* ---- other names, and what only one system has ---- */

#ifndef SYSTEM_DARWIN
struct timespec system_modified(const struct stat *st)
{
	return st->st_mtim;
}
#endif

#ifndef SYSTEM_LINUX
int system_cpu(void)
{
	return -1;
}

void system_pin(pthread_t thread, int cpu)
{
}

void system_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n)
{
}

void system_yield(pthread_t thread, int yields)
{
}

int system_thread_time(pthread_t thread, struct timespec *t)
{
	return -1;
}

size_t system_fault_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void system_use_huge_pages(const void *p, size_t n)
{
}

void system_drop_pages(const void *p, size_t n)
{
}

void system_widen_pipe(int fd, size_t bytes)
{
}
#endif

#if !defined SYSTEM_LINUX || defined SEGMENTS_IN_FILES
const char *system_shared_memory(void)
{
	return NULL;
}
#endif

/* ---- terminals ---- */

#ifdef TIOCGWINSZ
static void ask_terminal(int fd, int *columns, int *rows)
{
	struct winsize size;

	if (!ioctl(fd, TIOCGWINSZ, &size)) {
		*columns = size.ws_col;
		*rows = size.ws_row;
	}
}
#else
static void ask_terminal(int fd, int *columns, int *rows)
{
}
#endif

static int positive(const char *name, int otherwise)
{
	const char *s = getenv(name);
	int n = s ? atoi(s) : 0;

	return n > 0 && n <= 10000 ? n : otherwise;
}

void system_terminal_size(int fd, int *columns, int *rows)
{
	*columns = *rows = 0;
	ask_terminal(fd, columns, rows);
	if (*columns < 1)
		*columns = positive("COLUMNS", 80);
	if (*rows < 1)
		*rows = positive("LINES", 24);
}

int system_coloured(int fd)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");

	if (force && *force && strcmp(force, "0"))
		return 1;
	return isatty(fd) && !(no && *no);
}
