/* The tests' quantisers against lib/formats' dequantisers: two independent implementations of each layout. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/gguf/formats.h"
#include "check.h"
#include "mkrandom.h"
#include "quantise.h"

enum { N = 4096 };

/* The root mean square error, relative to that of the values. */
static double error_of(const struct format *f, const float *x)
{
	static unsigned char blocks[N * 4];
	static float y[N];
	double error = 0, size = 0;

	if (quantise(f->id, x, blocks, N))
		return INFINITY;
	format_dequantise(f, blocks, y, N);
	for (size_t i = 0; i < N; i++) {
		error += ((double)x[i] - y[i]) * ((double)x[i] - y[i]);
		size += (double)x[i] * x[i];
	}
	return size > 0 ? sqrt(error / size) : error;
}

int main(void)
{
	const struct format *f;
	static float x[N], zero[N];

	/* each sub-block has a different size and centre, so that scales and minima matter */
	for (size_t i = 0; i < N; i++) {
		uint64_t r = mkrandom(7, i), block = mkrandom(8, i / 16);

		x[i] = (float)((int)((r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff)
			+ (r >> 48)) - 131070) * 2.6e-5f
			* (0.5f + (float)(block & 255) / 255);
	}
	for (size_t i = 0; (f = format_each(i)); i++) {
		/* bounds for a nearly normal row, by bits per element; misreading any part of a layout costs several
		 * times as much */
		double bits = 8 * (double)f->bytes / (double)f->block, error;
		double most = f->read ? 2.7 * exp2(-bits) : f->bytes == sizeof(float) ? 0 : 2.3e-3;

		if (quantise(f->id, NULL, NULL, 0))
			continue;
		error = error_of(f, x);
		check(error <= most, "%s: error: %g", f->name, error);
		check(error_of(f, zero) == 0, "%s: zeros do not stay zeros", f->name);
	}
	return check_end("quantise");
}
