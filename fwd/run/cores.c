#ifdef __linux__
#define _GNU_SOURCE     /* for CPU_SET and the functions named after it, beyond POSIX */
#endif

#include "cores.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static size_t online(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (size_t)n : 1;
}

#ifdef __linux__
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

size_t cores_count(void)
{
	cpu_set_t ours;
	size_t n = 0;

	if (sched_getaffinity(0, sizeof ours, &ours))
		return online();        /* more CPUs than a cpu_set_t can name */
	for (int i = 0; i < CPU_SETSIZE; i++)
		n += CPU_ISSET((size_t)i, &ours) && first_of_core(i, &ours);
	return n ? n : 1;
}

int cores_here(void)
{
	return sched_getcpu();
}

void cores_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n)
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

void cores_pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pthread_setaffinity_np(thread, sizeof set, &set);
}

void cores_yield(pthread_t thread, int yields)
{
	struct sched_param none = { 0 };

	pthread_setschedparam(thread, yields ? SCHED_IDLE : SCHED_OTHER, &none);
}
#else
size_t cores_count(void)
{
	return online();
}

int cores_here(void)
{
	return -1;
}

void cores_avoid(pthread_t thread, pthread_t like, const atomic_int *taken, size_t n)
{
	(void)thread, (void)like, (void)taken, (void)n;
}

void cores_pin(pthread_t thread, int cpu)
{
	(void)thread, (void)cpu;
}

void cores_yield(pthread_t thread, int yields)
{
	(void)thread, (void)yields;
}
#endif
