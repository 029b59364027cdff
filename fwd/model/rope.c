/* Frequencies, and the cosines and sines of positions. floor, ceil, ldexp and fma are exact or correctly rounded by
 * definition, and the rest is additions, multiplications and divisions, so the results are the same on every
 * machine. */
#include "rope.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/fmath.h"

static const double PI = 0x1.921fb54442d18p+1;

void rope_sincos(double x, double *sine, double *cosine)
{
	const double two_over_pi = 0x1.45f306dc9c883p-1, half_pi_high = 0x1.921fb54442d18p+0;
	const double half_pi_low = 0x1.1a62633145c07p-54;
	/* Subtract a whole number of quarter turns. The first fma is exact, because its result is a small multiple of
	 * the last place of half_pi_high. */
	double n = floor(x * two_over_pi + 0.5), r = fma(-n, half_pi_low, fma(-n, half_pi_high, x));
	double z = r * r, s = 0, c = 0;
	int quarter = (int)((long)n & 3);

	/* |r| <= pi/4: the series up to r^17 and r^18 */
	for (int i = 8; i > 0; i--) {
		s = (s + 1) * z / -((2 * i) * (2 * i + 1));
		c = (c + 1) * z / -((2 * i) * (2 * i - 1));
	}
	s = r + r * s;
	c = 1 + c;
	*sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
	*cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
}

/* The index, as a real number, of the pair that makes `turns` turns over the original context. For 0 turns, it is far
 * past the last pair. */
static double pair_of_turns(const struct rope_spec *spec, double turns)
{
	turns = fmax(turns, 1e-300);
	return (double)spec->n_rot * fmath_log(spec->n_ctx_orig / (turns * 2 * PI)) / (2 * fmath_log(spec->base));
}

/* YaRN's ramp: the share of pair i's frequency that is kept, from 1 for the fastest pairs to 0 for the slowest. */
static double kept(const struct rope_spec *spec, size_t i)
{
	double low = floor(pair_of_turns(spec, spec->beta_fast)), high = ceil(pair_of_turns(spec, spec->beta_slow)), y;

	low = low < 0 ? 0 : low;
	high = high > (double)spec->n_rot - 1 ? (double)spec->n_rot - 1 : high;
	y = ((double)i - low) / (high - low > 0.001 ? high - low : 0.001);
	return 1 - (y < 0 ? 0 : y > 1 ? 1 : y);
}

const float *rope_factors(const struct rope_spec *spec, size_t n_ctx)
{
	return spec->factors_long && (double)n_ctx > spec->n_ctx_orig ? spec->factors_long : spec->factors;
}

static double frequency(const struct rope_spec *spec, size_t i, const float *factors)
{
	double f = fmath_exp_double(-2 * (double)i / (double)spec->n_rot * fmath_log(spec->base)), k;

	if (factors)
		f /= (double)factors[i];
	if (spec->scaling == ROPE_LINEAR)
		f /= spec->factor;
	if (spec->scaling == ROPE_YARN) {
		k = spec->kept * kept(spec, i);
		f = f / spec->factor * (1 - k) + f * k;
	}
	return f;
}

int rope_open(struct rope *r, const struct rope_spec *spec, size_t room, size_t n_ctx, struct why *w)
{
	r->spec = spec;
	r->pairs = spec->n_rot / 2;
	r->magnitude = spec->attn_factor;
	if (spec->scaling == ROPE_YARN && spec->factor > 1)
		r->magnitude *= 1 + 0.1 * fmath_log(spec->factor);
	r->freq = calloc(r->pairs, sizeof *r->freq);
	r->cos = calloc(room, r->pairs * sizeof *r->cos);
	r->sin = calloc(room, r->pairs * sizeof *r->sin);
	if (!r->freq || !r->cos || !r->sin) {
		rope_close(r);
		return why(w, "out of memory for the rotations of %zu positions", room);
	}
	for (size_t i = 0; i < r->pairs; i++) {
		r->freq[i] = frequency(spec, i, rope_factors(spec, n_ctx));
		if (!(r->freq[i] >= 0 && r->freq[i] * (double)n_ctx <= ROPE_ANGLE_MAX)) {
			rope_close(r);
			return why(w, "RoPE: pair %zu has a frequency out of range", i);
		}
	}
	return 0;
}

void rope_close(struct rope *r)
{
	free(r->freq);
	free(r->cos);
	free(r->sin);
	r->freq = NULL;
	r->cos = r->sin = NULL;
}

void rope_position(struct rope *r, size_t row, size_t pos)
{
	double sine, cosine;

	for (size_t i = 0; i < r->pairs; i++) {
		rope_sincos((double)pos * r->freq[i], &sine, &cosine);
		r->cos[row * r->pairs + i] = (float)(cosine * r->magnitude);
		r->sin[row * r->pairs + i] = (float)(sine * r->magnitude);
	}
}
