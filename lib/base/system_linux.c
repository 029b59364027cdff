/* Linux. */
#define _GNU_SOURCE
#include "system.h"

#ifdef SYSTEM_LINUX
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };       /* bytes allocated by one system call */

/* ---- CPUs ---- */

/* Whether this is the lowest of the CPUs that we may use on its core. */
static int first_of_core(int cpu, const cpu_set_t *ours)
{
	char path[96];
	FILE *f;
	int a, b, first = 1;
	char dash;

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	f = fopen(path, "r");
	if (!f)
		return 1;
	/* "0,64" or "0-1" or "0-1,8-9" */
	while (first && fscanf(f, "%d", &a) == 1) {
		b = a;
		if (fscanf(f, "%c", &dash) == 1 && dash == '-' && fscanf(f, "%d%*c", &b) != 1)
			break;
		for (; a <= b && a < cpu && first; a++)
			first = a < 0 || a >= CPU_SETSIZE || !CPU_ISSET((size_t)a, ours);
	}
	fclose(f);
	return first;
}

size_t system_cores(void)
{
	cpu_set_t ours;
	size_t n = 0;
	long online;

	if (!sched_getaffinity(0, sizeof ours, &ours)) {
		for (int i = 0; i < CPU_SETSIZE; i++)
			n += CPU_ISSET((size_t)i, &ours) && first_of_core(i, &ours);
		return n ? n : 1;
	}
	/* more CPUs than a cpu_set_t can name */
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (size_t)online : 1;
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

#ifdef __aarch64__
#ifndef HWCAP2_I8MM
#define HWCAP2_I8MM (1 << 13)
#endif

int system_has_arm(enum system_feature f)
{
	return (f == SYSTEM_DOTPROD && getauxval(AT_HWCAP) & HWCAP_ASIMDDP) ||
	       (f == SYSTEM_I8MM && getauxval(AT_HWCAP2) & HWCAP2_I8MM);
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

/* Cached pages around the one that is touched are mapped with it: fault_around_bytes. */
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
 * library then writes instead. */
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

	/* The limit is unknown: halve the size until the system accepts it. */
	while (now > 0 && want > now && fcntl(fd, F_SETPIPE_SZ, want) < 0)
		want /= 2;
}

#ifndef SEGMENTS_IN_FILES
const char *system_shared_memory(void)
{
	return "/dev/shm";
}
#endif
#endif
