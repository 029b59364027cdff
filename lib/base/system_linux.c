/* Linux. The usable cores follow from the affinity of the process, the CPU files in /sys, and the control groups.
 * Threads can be pinned to CPUs. Shared memory is files in /dev/shm, which support record locks. */
#define _GNU_SOURCE
#include "system.h"

#ifdef SYSTEM_LINUX
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "size.h"

#ifndef ROOT
#define ROOT    /* of the CPU files; a test sets its own */
#endif

enum { PATH = 4096 };
enum { CHUNK = 1 << 20 };       /* bytes allocated by one system call */

/* ---- CPUs ---- */

/* The CPUs in a file such as "0,64" or "0-1,8-9". 0: there is no such file. */
static int read_list(const char *path, cpu_set_t *set)
{
	FILE *f = fopen(path, "r");
	int a, b;

	CPU_ZERO(set);
	if (!f)
		return 0;
	do {
		if (fscanf(f, "%d", &a) != 1 || a < 0)
			break;
		if (fscanf(f, "-%d", &b) != 1)
			b = a;
		for (; a <= b && a < CPU_SETSIZE; a++)
			CPU_SET((size_t)a, set);
	} while (fgetc(f) == ',');
	fclose(f);
	return 1;
}

/* The number at the start of a file; 0 if there is none. */
static long read_number(const char *path)
{
	FILE *f = fopen(path, "r");
	long n = 0;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

/* The path of a file about one CPU. */
static const char *of_cpu(int cpu, const char *file, char path[PATH])
{
	snprintf(path, PATH, ROOT "/sys/devices/system/cpu/cpu%d/%s", cpu, file);
	return path;
}

/* The relative speed of a CPU: its capacity, or else its highest frequency, or else 0. */
static long speed(int cpu)
{
	char path[PATH];
	long n = read_number(of_cpu(cpu, "cpu_capacity", path));

	return n ? n : read_number(of_cpu(cpu, "cpufreq/cpuinfo_max_freq", path));
}

/* Removes slower kinds of cores from the set: on a hybrid x86, all but performance cores; elsewhere, those with less
 * than two thirds of the fastest one's speed (equal cores may differ by a tenth). */
static void keep_fast(cpu_set_t *ours)
{
	static long speeds[CPU_SETSIZE];
	cpu_set_t fast;
	long most = 0;

	if (read_list(ROOT "/sys/devices/cpu_core/cpus", &fast)) {
		CPU_AND(&fast, &fast, ours);
		if (CPU_COUNT(&fast))
			*ours = fast;
		return;
	}
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, ours)) {
			speeds[i] = speed(i);
			most = speeds[i] > most ? speeds[i] : most;
		}
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, ours) && speeds[i] * 3 < most * 2)
			CPU_CLR((size_t)i, ours);
}

/* Whether this is the lowest CPU of the set on its core. */
static int first_of_core(int cpu, const cpu_set_t *ours)
{
	char path[PATH];
	cpu_set_t core;

	read_list(of_cpu(cpu, "topology/thread_siblings_list", path), &core);
	for (int i = 0; i < cpu; i++)
		if (CPU_ISSET((size_t)i, &core) && CPU_ISSET((size_t)i, ours))
			return 0;
	return 1;
}

/* The number of CPUs that the control group at this path may keep busy, rounded up. */
static size_t quota_of(const char *cgroup)
{
	char path[PATH];
	long time = 0, period = 0;
	FILE *f;

	snprintf(path, sizeof path, ROOT "/sys/fs/cgroup%s/cpu.max", cgroup);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld %ld", &time, &period) != 2)     /* "max 100000" */
		period = 0;
	if (f)
		fclose(f);
	return time > 0 && period > 0 ? (size_t)(time / period + (time % period > 0)) : SIZE_MAX;
}

/* The same for those of this process: the smallest over the inner and outer ones. */
static size_t quota(void)
{
	char line[PATH - 64] = "", *cgroup = NULL, *end;
	FILE *f = fopen(ROOT "/proc/self/cgroup", "r");
	size_t least = SIZE_MAX;

	if (!f)
		return least;
	while (!cgroup && fgets(line, sizeof line, f))
		if (!strncmp(line, "0::", 3))
			cgroup = line + 3;
	fclose(f);
	for (end = cgroup ? strchr(cgroup, '\n') : NULL; end; end = strrchr(cgroup, '/')) {
		*end = 0;
		least = size_min(least, quota_of(cgroup));
	}
	return least;
}

static size_t cores_among(cpu_set_t ours)
{
	size_t n = 0;

	keep_fast(&ours);
	for (int i = 0; i < CPU_SETSIZE; i++)
		n += CPU_ISSET((size_t)i, &ours) && first_of_core(i, &ours);
	return n;
}

size_t system_cores(void)
{
	cpu_set_t ours;
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	size_t n = online > 0 ? (size_t)online : 1;

	/* fails if there are more CPUs than a cpu_set_t can name */
	if (!sched_getaffinity(0, sizeof ours, &ours))
		n = cores_among(ours);
	return size_min(n ? n : 1, quota());
}

int system_cpu(void)
{
	return sched_getcpu();
}

void system_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n)
{
	cpu_set_t all, set;

	if (pthread_getaffinity_np(like, sizeof all, &all))
		return;
	set = all;
	for (size_t i = 0; i < n; i++) {
		int cpu = atomic_load(&taken[i]);

		if (cpu >= 0 && cpu < CPU_SETSIZE)
			CPU_CLR((size_t)cpu, &set);
	}
	pthread_setaffinity_np(thread, sizeof set, CPU_COUNT(&set) ? &set : &all);
}

void system_pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(thread, sizeof set, &set);
}

void system_yield(pthread_t thread, int yields)
{
	struct sched_param none = { 0 };

	pthread_setschedparam(thread, yields ? SCHED_IDLE : SCHED_OTHER, &none);
}

int system_thread_time(pthread_t thread, struct timespec *t)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, t) ? -1 : 0;
}

#ifdef __x86_64__
/* Numbers of the kernel's interface: ARCH_REQ_XCOMP_PERM, and the state of AMX's tiles. */
int system_allow_amx(void)
{
	enum { REQUEST = 0x1023, TILE_DATA = 18 };

	return syscall(SYS_arch_prctl, REQUEST, TILE_DATA) == 0;
}
#endif

#ifdef __aarch64__
#ifndef HWCAP2_I8MM
#define HWCAP2_I8MM (1 << 13)
#endif

int system_has_arm(enum system_feature f)
{
	return (f == SYSTEM_DOTPROD && getauxval(AT_HWCAP) & HWCAP_ASIMDDP)
	       || (f == SYSTEM_I8MM && getauxval(AT_HWCAP2) & HWCAP2_I8MM);
}
#endif

/* ---- memory ---- */

size_t system_peak_memory(int who)
{
	struct rusage use;

	return getrusage(who, &use) ? 0 : (size_t)use.ru_maxrss << 10;
}

size_t system_memory(void)
{
	return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* A fault also maps the cached pages around it: fault_around_bytes. */
size_t system_fault_bytes(void)
{
	return 1 << 16;
}

void system_use_huge_pages(const void *p, size_t n)
{
	madvise((void *)(uintptr_t)p, n, MADV_HUGEPAGE);
}

void system_drop_pages(const void *p, size_t n)
{
	madvise((void *)(uintptr_t)p, n, MADV_DONTNEED);
}

/* ---- files ---- */

/* In chunks, because a signal undoes the call that it interrupts. Not every file system can allocate, and not every C
 * library writes zeros instead. */
int system_allocate(int fd, off_t from, off_t to)
{
	int error = 0;

	while (from < to && (!error || error == EINTR)) {
		off_t n = to - from < CHUNK ? to - from : CHUNK;

		error = posix_fallocate(fd, from, n);
		if (!error)
			from += n;
	}
	return error == EOPNOTSUPP ? system_write_zeroes(fd, from, to) : error;
}

void system_widen_pipe(int fd, size_t bytes)
{
	int now = fcntl(fd, F_GETPIPE_SZ), want = bytes < 1 << 30 ? (int)bytes : 1 << 30;

	/* the limit is unknown, so halve the size until the system accepts it */
	while (now > 0 && want > now && fcntl(fd, F_SETPIPE_SZ, want) < 0)
		want /= 2;
}

#ifndef SEGMENTS_IN_FILES
/* Small containers and chroots may lack it. */
const char *system_shared_memory(void)
{
	return access("/dev/shm", W_OK | X_OK) ? NULL : "/dev/shm";
}
#endif
#endif
