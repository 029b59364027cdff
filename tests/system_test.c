/* Threads and CPUs: a thread that avoids CPUs leaves them, a pinned one moves to its CPU, and if no CPU would be left,
 * it may run anywhere. Also tests which cores are counted, with files that describe other machines. */
#define ROOT "root"
#include "lib/base/system_linux.c"      /* empty on other systems, whose files are linked */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { CPUS = 1 << 16 };

/* ---- moving ---- */

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

/* Where the thread with these readings is now. It may have taken its last reading before it was moved. */
static int now(void)
{
	int first = atomic_load(&readings);

	while (atomic_load(&readings) - first < 2)
		sched_yield();
	return atomic_load(&here);
}

static void move(void)
{
	static atomic_int all[CPUS];
	atomic_int cpu;
	pthread_t thread;

	if (!check(!pthread_create(&thread, NULL, read_cpu, NULL), "no thread"))
		return;
	for (int i = 0; i < CPUS; i++)
		atomic_init(&all[i], i);
	for (int i = 0; i < 50; i++) {
		atomic_init(&cpu, now());
		system_avoid(thread, pthread_self(), &cpu, 1);
		check_at(now() != atomic_load(&cpu), "a thread stays on a CPU that it is to avoid", i);
		system_pin(thread, atomic_load(&cpu));
		check_at(now() == atomic_load(&cpu), "a thread does not come to the CPU that it is called to", i);
		system_avoid(thread, pthread_self(), all, CPUS);
		/* its mask is checked by giving the same mask to this thread, on that CPU */
		system_pin(pthread_self(), atomic_load(&cpu));
		system_avoid(pthread_self(), thread, &cpu, 1);
		check_at(system_cpu() != atomic_load(&cpu), "with no CPU left to go to, a thread may not use all", i);
		system_avoid(pthread_self(), thread, NULL, 0);
	}
	system_pin(thread, -1);
	check(now() >= 0, "a call to no CPU is not left alone");
	atomic_store(&stopped, 1);
	pthread_join(thread, NULL);
}

/* ---- files ---- */

/* Allocated space reads as zeros, and the old contents remain. Returns the number of blocks. */
static blkcnt_t allocate(int (*room)(int fd, off_t from, off_t to), const char *how)
{
	char path[] = "room-XXXXXX", byte = 1;
	int fd = mkstemp(path);
	struct stat st = { 0 };

	check(fd >= 0 && write(fd, "abc", 3) == 3 && !room(fd, 3, 3000001), "%s: no room", how);
	check(!fstat(fd, &st) && st.st_size == 3000001, "%s: not the size", how);
	check(pread(fd, &byte, 1, 2) == 1 && byte == 'c', "%s: what was there is changed", how);
	check(pread(fd, &byte, 1, 3000000) == 1 && byte == 0, "%s: not zero", how);
	check(room(-1, 0, 10) == EBADF, "%s: an error is not reported", how);
	close(fd);
	unlink(path);
	return st.st_blocks;
}

/* ---- counting ---- */

#ifdef SYSTEM_LINUX
/* Makes the file root/PATH, with its directories. */
static void put(const char *path, const char *text)
{
	char command[400];

	snprintf(command, sizeof command, "mkdir -p root/$(dirname %s) && echo '%s' >root/%s", path, text, path);
	if (system(command))
		check(0, "cannot write %s", path);
}

static void put_cpu(int cpu, const char *file, const char *text)
{
	char path[100];

	snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, file);
	put(path, text);
}

static void counted(size_t want, const char *cpus, const char *machine)
{
	cpu_set_t ours;
	size_t got;

	put("ours", cpus);
	read_list("root/ours", &ours);
	got = cores_among(ours);
	check(got == want, "%s, CPUs %s: %zu cores, not %zu", machine, cpus, got, want);
	if (system("rm -r root/ours"))
		check(0, "cannot clean up");
}

static void clear(void)
{
	if (system("rm -rf root"))
		check(0, "cannot clean up");
}

static void count_cores(void)
{
	static const char *const apart[] = { "0,4", "1,5", "2,6", "3,7" };
	static const char *const beside[] = { "0-1", "2-3", "4-5", "6-7" };

	counted(8, "0-7", "nothing known");
	for (int i = 0; i < 8; i++) {
		put_cpu(i, "topology/thread_siblings_list", apart[i % 4]);
		put_cpu(i, "cpufreq/cpuinfo_max_freq", i % 4 == 2 ? "5200000" : "4800000");
	}
	counted(4, "0-7", "two threads a core");
	counted(4, "1,4,6-7", "one thread of each core");
	counted(2, "1,3,5", "some of the threads");
	for (int i = 0; i < 8; i++)
		put_cpu(i, "topology/thread_siblings_list", beside[i / 2]);
	counted(3, "0-4", "two threads a core, side by side");
	clear();

	for (int i = 0; i < 8; i++)
		put_cpu(i, "cpu_capacity", i < 4 ? "530" : i < 7 ? "871" : "1024");
	counted(4, "0-7", "small, middle and large cores");
	counted(4, "0-3", "small ones alone");
	counted(1, "2-4", "one that is not small");
	clear();

	for (int i = 0; i < 6; i++)
		put_cpu(i, "cpufreq/cpuinfo_max_freq", i < 2 ? "1800000" : "2800000");
	counted(4, "0-5", "two frequencies");
	put("sys/devices/cpu_core/cpus", "0-1,4");
	counted(3, "0-5", "a hybrid");
	counted(2, "2-3", "a hybrid's other cores");
	clear();
}

static void limited(size_t want, const char *what)
{
	size_t got = quota();

	check(got == want, "%s: %zu CPUs, not %zu", what, got, want);
}

static void limits(void)
{
	limited(SIZE_MAX, "no control groups");
	put("proc/self/cgroup", "0::/");
	limited(SIZE_MAX, "no limit");
	put("sys/fs/cgroup/cpu.max", "150000 100000");
	limited(2, "one and a half");
	put("sys/fs/cgroup/cpu.max", "max 100000");
	limited(SIZE_MAX, "unlimited");
	put("proc/self/cgroup", "1:cpu:/x\n0::/a/b");
	put("sys/fs/cgroup/a/b/cpu.max", "400000 100000");
	limited(4, "the inner group");
	put("sys/fs/cgroup/a/cpu.max", "30000 10000");
	limited(3, "the outer group");
	put("sys/fs/cgroup/cpu.max", "1 100000");
	limited(1, "the outermost");
	check(system_cores() == 1, "the limit is not kept to");
	put("sys/fs/cgroup/cpu.max", "nonsense");
	put("sys/fs/cgroup/a/cpu.max", "0 0");
	put("sys/fs/cgroup/a/b/cpu.max", "-1 100000");
	limited(SIZE_MAX, "nonsense");
	clear();
}

static void count(void)
{
	count_cores();
	limits();
}
#else
static void count(void)
{
}
#endif

/* ---- features ---- */

static int cpuinfo_has(const char *text)
{
	char line[8192];
	FILE *f = fopen("/proc/cpuinfo", "r");
	int found = 0;

	while (f && !found && fgets(line, sizeof line, f))
		found = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return found;
}

/* Only what the file lists is compared, as the system may hide a feature that it does not save. */
static void features(void)
{
	if (!cpuinfo_has("vendor_id"))
		return;
	check(system_has(SYSTEM_ONE_STREAM) == (cpuinfo_has("AuthenticAMD") && system_has(SYSTEM_AVX512)),
		"one stream: not AMD with AVX-512");
	check(!system_has(SYSTEM_AVX512) || cpuinfo_has("avx512_vnni"), "AVX-512 that the system does not list");
	check(!system_has(SYSTEM_BF16) || cpuinfo_has("avx512_bf16"), "BF16 that the system does not list");
	check(!system_has(SYSTEM_AMX) || cpuinfo_has("amx_bf16"), "AMX that the system does not list");
}

int main(void)
{
	check(system_cores() >= 1, "no core");
	check(!system_memory() || system_memory() > 1 << 24, "too little memory");
	check((system_fault_bytes() & (system_fault_bytes() - 1)) == 0, "a fault of an odd size");
	/* file systems count differently, but none counts blocks of a hole */
	check(allocate(system_allocate, "the system's way") * 4 >= allocate(system_write_zeroes, "by writing"),
		"less room than by writing");
	features();
	count();
	if (system_cpu() >= 0 && system_cores() > 1)
		move();
	return check_end("system");
}
