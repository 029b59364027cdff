/* system: what POSIX does not cover. One of system_linux.c, system_darwin.c, system_bsd.c and system_posix.c implements
 * it for the target; the others compile to nothing. system_posix.c needs nothing beyond POSIX and works everywhere, if
 * slower; -DSYSTEM_POSIX selects it. system.c has what several of them share. No other file names a system or calls
 * functions that POSIX lacks. */
#ifndef SYSTEM_H
#define SYSTEM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#if defined SYSTEM_POSIX
#elif defined __linux__
#define SYSTEM_LINUX
#elif defined __APPLE__
#define SYSTEM_DARWIN
#elif defined __FreeBSD__ || defined __NetBSD__ || defined __OpenBSD__ || defined __DragonFly__
#define SYSTEM_BSD
#else
#define SYSTEM_POSIX
#endif

/* ---- CPUs ---- */

/* What not every CPU of the architecture has: instructions, and a trait of its prefetchers. */
enum system_feature {
	SYSTEM_ANY,             /* none: every CPU has it */
	SYSTEM_AVX2,            /* with FMA and F16C */
	SYSTEM_AVX512,          /* F, BW, DQ, VL and VNNI, and all of the above */
	SYSTEM_BF16,            /* AVX-512 BF16, and all of the above */
	SYSTEM_AMX,             /* AMX with BF16, which the system lets this process use, and all of the above */
	/* x86: AMD's CPUs with AVX-512, that is Zen 4 and later: prefetchers that keep up with a single stream of loads
	 * by themselves. Prefetches and second streams only disturb them. */
	SYSTEM_ONE_STREAM,
	SYSTEM_DOTPROD,         /* aarch64: sdot */
	SYSTEM_I8MM             /* aarch64: smmla */
};

/* Whether the CPU has the feature; if the system does not say, whether the compiler may assume it. */
int system_has(enum system_feature f);

/* The number of cores that this process may use, at least 1: physical ones, of the fastest kind if there are several,
 * where the system reports them. */
size_t system_cores(void);

/* The CPU that the caller runs on, or -1: unknown. The next three functions then do nothing. */
int system_cpu(void);

/* Pins a thread to this CPU. */
void system_pin(pthread_t thread, int cpu);

/* Allows the thread the CPUs of the thread `like` except the n CPUs in taken[] (-1: none); all of them if none would be
 * left. */
void system_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n);

/* yields 1: the thread runs only when nothing else wants its CPU; 0: normal scheduling. */
void system_yield(pthread_t thread, int yields);

/* The CPU time of a thread whose id the caller has. -1: unknown. */
int system_thread_time(pthread_t thread, struct timespec *t);

/* ---- memory ---- */

/* The peak resident memory, in bytes, of this process (RUSAGE_SELF), or of the largest child that has ended
 * (RUSAGE_CHILDREN); 0: unknown. */
size_t system_peak_memory(int who);

/* Bytes of physical memory; 0: unknown. */
size_t system_memory(void);

/* The bytes of a mapped file that one fault makes accessible, if they are cached: a power of two. */
size_t system_fault_bytes(void);

/* Hints about the mapping of a read-only file. system_use_huge_pages(): cache it in huge pages when it is read. The
 * other: the pages will not be needed again. p and n are multiples of 2 MiB, except at the ends of the mapping. */
void system_use_huge_pages(const void *p, size_t n);
void system_drop_pages(const void *p, size_t n);

/* ---- files ---- */

/* Allocates the bytes [from, to) of a file, and makes `to` its size, so that writing to a mapping of them cannot fail
 * later. Returns 0 or an error number; the size may have changed even on failure. */
int system_allocate(int fd, off_t from, off_t to);

/* Lets a pipe hold up to this many bytes, if the system allows it. Does nothing for other descriptors. */
void system_widen_pipe(int fd, size_t bytes);

/* The time of a file's last change. */
struct timespec system_modified(const struct stat *st);

/* The directory whose files are shared memory and support record locks; NULL if there is none, or with
 * -DSEGMENTS_IN_FILES. */
const char *system_shared_memory(void);

/* ---- terminals ---- */

/* The size of a terminal, at least 1 by 1: from the system, or else $COLUMNS and $LINES, or else 80 by 24. */
void system_terminal_size(int fd, int *columns, int *rows);

/* Whether to use colours: on terminals unless $NO_COLOR is set, and anywhere if $CLICOLOR_FORCE is. */
int system_coloured(int fd);

/* ---- for the files system_*.c ---- */

/* system_allocate() if nothing else works: writes zeros. */
int system_write_zeroes(int fd, off_t from, off_t to);

/* Asks the system to let this process use AMX's tiles: 1 if it may. */
int system_allow_amx(void);

/* system_has() on aarch64. system_built_with(): whether the compiler was told that every CPU has the feature. */
int system_has_arm(enum system_feature f);
int system_built_with(enum system_feature f);

#endif
