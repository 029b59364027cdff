/* The quantisers of the tests against lib/formats' dequantisers: two accounts of one layout. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "check.h"
#include "mkrandom.h"
#include "quantise.h"

enum { N = 4096 };

/* Root mean square of the error, as a share of that of the values. */
static double error_of(const struct format *f, const float *x)
{
	static unsigned char blocks[N * 4];
	static float y[N];
	double error = 0, size = 0;

	if (quantise(f->id, x, blocks, N))
		return INFINITY;
	f->dequantise(blocks, y, N);
	for (size_t i = 0; i < N; i++) {
		error += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
		size += (double)x[i] * x[i];
	}
	return size > 0 ? sqrt(error / size) : error;
}

int main(void)
{
	static const struct {
		uint32_t type;
		double most;    /* error of a near-normal row; a layout misread in any part costs several times as much */
	} cases[] = {
		{ FORMAT_F32, 0 }, { FORMAT_F16, 3e-4 }, { FORMAT_BF16, 2.3e-3 }, { FORMAT_Q8_0, 0.006 }, { FORMAT_Q6_K, 0.025 }, { FORMAT_Q5_0, 0.05 },
		{ FORMAT_Q5_1, 0.045 }, { FORMAT_Q5_K, 0.045 }, { FORMAT_Q4_0, 0.1 }, { FORMAT_Q4_1, 0.09 }, { FORMAT_Q4_K, 0.09 }, { FORMAT_Q3_K, 0.2 },
		{ FORMAT_Q2_K, 0.4 },
	};
	static float x[N], zero[N];

	/* each sub-block its own size and middle, so that scales and minima matter */
	for (size_t i = 0; i < N; i++) {
		uint64_t r = mkrandom(7, i), block = mkrandom(8, i / 16);

		x[i] = (float)((int)((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48)) - 131070) * 2.6e-5f
			* (0.5f + (float)(block & 255) / 255);
	}
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct format *f = format_of(cases[i].type);
		double error;

		if (!f) {
			check(0, "type %u: not in the table of formats", (unsigned)cases[i].type);
			continue;
		}
		error = error_of(f, x);
		check(error <= cases[i].most, "%s: error: %g", f->name, error);
		check(error_of(f, zero) == 0, "%s: zeros do not stay zeros", f->name);
	}
	return check_end("quantise");
}
