/* Threads and CPUs: a thread that avoids CPUs leaves them, one that is pinned to a CPU moves there, and where no CPU
 * would be left it may run anywhere. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "lib/base/system.h"
#include "check.h"

enum { CPUS = 1 << 16 };

static atomic_int here, readings, stopped;

static void *read_cpu(void *unused)
{
	while (!atomic_load(&stopped)) {
		atomic_store(&here, system_cpu());
		atomic_fetch_add(&readings, 1);
		sched_yield();
	}
	return unused;
}

/* Where the thread that readings is now: it may have looked a last time before it was moved. */
static int now(void)
{
	int first = atomic_load(&readings);

	while (atomic_load(&readings) - first < 2)
		sched_yield();
	return atomic_load(&here);
}

int main(void)
{
	static atomic_int all[CPUS];
	atomic_int cpu;
	pthread_t thread;

	check(system_cores() >= 1, "no core");
	if (system_cpu() < 0 || system_cores() < 2)
		return check_end("system");      /* nothing to choose from */
	if (!check(!pthread_create(&thread, NULL, read_cpu, NULL), "no thread"))
		return check_end("system");
	for (int i = 0; i < CPUS; i++)
		atomic_init(&all[i], i);
	for (int i = 0; i < 50; i++) {
		atomic_init(&cpu, now());
		system_avoid(thread, pthread_self(), &cpu, 1);
		check_at(now() != atomic_load(&cpu), "a thread stays on a CPU that it is to avoid", i);
		system_pin(thread, atomic_load(&cpu));
		check_at(now() == atomic_load(&cpu), "a thread does not come to the CPU that it is called to", i);
		system_avoid(thread, pthread_self(), all, CPUS);
		/* its mask is tested by giving the same mask to this thread, on that CPU */
		system_pin(pthread_self(), atomic_load(&cpu));
		system_avoid(pthread_self(), thread, &cpu, 1);
		check_at(system_cpu() != atomic_load(&cpu), "with no CPU left to go to, a thread may not use all", i);
		system_avoid(pthread_self(), thread, NULL, 0);
	}
	system_pin(thread, -1);
	check(now() >= 0, "a call to no CPU is not left alone");
	atomic_store(&stopped, 1);
	pthread_join(thread, NULL);
	return check_end("system");
}
