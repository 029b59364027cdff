/* isa: prints the best instruction set that this CPU runs, or "every" if it runs none of them. `make demo` builds only
 * the kernels of that set, so that a newcomer need not wait for the others. */
#include <stdio.h>

#include "kernels.h"

int main(void)
{
	const char *best = "every";

#define BEST(isa, feature) if (system_has(feature)) best = #isa;
	KERNELS_ISAS(BEST)
#undef BEST
	return puts(best) < 0 || fflush(stdout) != 0;
}
