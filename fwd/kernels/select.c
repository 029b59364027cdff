/* select: the tables of kernels and of peaks of this build, and which of them this CPU runs. */
#include <string.h>

#include "kernels.h"
#include "peaks.h"

/* make demo builds one set. */
#if defined KERNELS_ONLY
#define BUILT(ROW) ROW(KERNELS_ONLY, SYSTEM_ANY)
#else
#define BUILT(ROW) KERNELS_ISAS(ROW)
#endif

/* slowest first */
static const struct table {
	const struct kernels *kernels;
	const struct peaks *peaks;
} tables[] = {
#define TABLE_OF(isa) { &kernels_##isa, &peaks_##isa },
#define TABLE(isa, feature) TABLE_OF(isa)
	TABLE(scalar, SYSTEM_ANY)
	BUILT(TABLE)
#undef TABLE_OF
#undef TABLE
};

const struct kernels *kernels_each(size_t i)
{
	for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
		if (system_has(tables[t].kernels->needs) && i-- == 0)
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
