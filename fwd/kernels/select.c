/* select: the tables of kernels and of peaks of this build, and which of them this CPU runs. */
#include <string.h>

#if defined __x86_64__
#include <cpuid.h>
#elif defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#endif

#include "kernels.h"
#include "peaks.h"

static int runs_always(void)
{
	return 1;
}

#if defined __x86_64__
/* Not every compiler's __builtin_cpu_supports knows "f16c". */
static int has_f16c(void)
{
	unsigned a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static int runs_avx2(void)
{
	return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

static int runs_avx512(void)
{
	return runs_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
	       __builtin_cpu_supports("avx512vnni");
}
#elif defined __aarch64__ && defined __linux__
/* Vectors are part of every aarch64; the dot product of bytes is not. */
static int runs_neon(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}
#endif

/* slowest first */
static const struct table {
	const struct kernels *kernels;
	int (*runs)(void);
	const struct peaks *peaks;
} tables[] = {
	{ &kernels_scalar, runs_always, &peaks_scalar },
#if defined __x86_64__
	{ &kernels_avx2, runs_avx2, &peaks_avx2 },
	{ &kernels_avx512, runs_avx512, &peaks_avx512 },
#elif defined __aarch64__ && defined __linux__
	{ &kernels_neon, runs_neon, &peaks_neon },
#endif
};

const struct kernels *kernels_each(size_t i)
{
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		if (tables[t].runs() && i-- == 0)
			return tables[t].kernels;
	return NULL;
}

const struct kernels *kernels_select(const char *name)
{
	const struct kernels *k, *best = NULL;

	for (size_t i = 0; (k = kernels_each(i)); i++) {
		if (strcmp(k->name, name) == 0)
			return k;
		best = k;
	}
	return strcmp(name, "auto") == 0 ? best : NULL;
}

const struct peaks *peaks_of(const struct kernels *k)
{
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		if (tables[t].kernels == k)
			return tables[t].peaks;
	return &peaks_scalar;
}
