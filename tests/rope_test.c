/* The rotations: our exp, sin and cos against libm's, the frequencies of each kind of scaling against their formulas,
 * and a checksum of cosines and sines. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "fwd/model/rope.h"
#include "lib/base/fmath.h"
#include "check.h"

static void compare(int ok, const char *what, double got, double want)
{
	check(ok, "%s: %.17g, not %.17g", what, got, want);
}

static void near(double got, double want, double tolerance, const char *what)
{
	compare(fabs(got - want) <= tolerance, what, got, want);
}

static void functions(void)
{
	double s, c, worst = 0, x;

	for (int i = 0; i < 200000; i++) {
		/* from 0 to 2^30, as many small ones as large */
		x = ldexp(1 + (i % 997) / 997.0, i % 35 - 5);
		x = x > ROPE_ANGLE_MAX ? ROPE_ANGLE_MAX : x;
		rope_sincos(x, &s, &c);
		worst = fmax(worst, fmax(fabs(s - sin(x)), fabs(c - cos(x))));
	}
	near(worst, 0, 2 * DBL_EPSILON, "largest error of sin and cos");
	rope_sincos(0, &s, &c);
	compare(s == 0 && c == 1, "sin 0, cos 0", s, c);
	for (worst = 0, x = -700; x <= 700; x += 0.37)
		worst = fmax(worst, fabs(fmath_exp_double(x) / exp(x) - 1));
	near(worst, 0, 4 * DBL_EPSILON, "largest relative error of exp");
	compare(fmath_exp_double(0) == 1, "exp 0", fmath_exp_double(0), 1);
}

static void frequencies(void)
{
	static const float factors[4] = { 1, 2, 4, 8 };
	struct rope_spec spec = { .n_rot = 8, .base = 10000, .attn_factor = 1, .factor = 4, .n_ctx_orig = 64,
		.beta_fast = 32, .beta_slow = 1, .kept = 1 };
	struct rope r;
	struct why w;

	compare(!rope_open(&r, &spec, 4, 4096, &w), "rope_open", -1, 0);
	for (size_t i = 0; i < 4; i++)
		near(r.freq[i], pow(10000, -(double)i / 4), 1e-15, "a plain frequency");
	rope_position(&r, 3, 103);
	near(r.cos[3 * 4 + 1], cos(103 * 0.1), 1e-7, "cos of position 103, pair 1");
	near(r.sin[3 * 4 + 1], sin(103 * 0.1), 1e-7, "sin of position 103, pair 1");
	rope_close(&r);

	spec.factors = factors;
	spec.scaling = ROPE_LINEAR;
	compare(!rope_open(&r, &spec, 1, 4096, &w), "rope_open", -1, 0);
	for (size_t i = 0; i < 4; i++)
		near(r.freq[i], pow(10000, -(double)i / 4) / factors[i] / 4, 1e-15, "a linear frequency with factors");
	rope_close(&r);

	/* turns over 64 positions: 10.2, 1.02, 0.1, 0.01; so the ramp goes from low = floor(-0.5) → 0 to high =
	 * ceil(1.008) = 2 */
	spec.factors = NULL;
	spec.scaling = ROPE_YARN;
	compare(!rope_open(&r, &spec, 1, 4096, &w), "rope_open", -1, 0);
	near(r.freq[0], 1, 1e-15, "YaRN leaves the fastest pair");
	near(r.freq[1], 0.1 * (0.5 + 0.5 / 4), 1e-15, "YaRN mixes the next");
	near(r.freq[2], 0.01 / 4, 1e-15, "YaRN stretches the slow ones");
	near(r.magnitude, 1 + 0.1 * log(4), 1e-15, "YaRN's magnitude");
	rope_close(&r);
}

/* Every machine must give exactly these floats: the contract is bits, not tolerances. */
static void frozen(void)
{
	struct rope_spec spec = { .n_rot = 128, .base = 500000, .attn_factor = 1 };
	struct rope r;
	struct why w;
	uint64_t hash = 14695981039346656037u;
	uint32_t bits;

	compare(!rope_open(&r, &spec, 512, 131072, &w), "rope_open", -1, 0);
	for (size_t pos = 0; pos < 131072; pos += 8192) {
		for (size_t i = 0; i < 512; i++)
			rope_position(&r, i, pos + i);
		for (size_t i = 0; i < 512 * r.pairs; i++) {
			memcpy(&bits, &r.cos[i], sizeof bits);
			hash = (hash ^ bits) * 1099511628211u;
			memcpy(&bits, &r.sin[i], sizeof bits);
			hash = (hash ^ bits) * 1099511628211u;
		}
	}
	compare(hash == 0x9a15215d30f2d9d3, "hash of the rotations", (double)hash, (double)0x9a15215d30f2d9d3);
	rope_close(&r);
}

static void refusals(void)
{
	struct rope_spec spec = { .n_rot = 4, .base = 10000, .attn_factor = 1 };
	static const float zero[2] = { 1, 0 }, nan[2] = { NAN, 1 }, tiny[2] = { 1e-30f, 1 };
	struct rope r;
	struct why w;

	spec.factors = zero;
	compare(rope_open(&r, &spec, 1, 64, &w) < 0, "a factor of 0 is accepted", 0, -1);
	spec.factors = nan;
	compare(rope_open(&r, &spec, 1, 64, &w) < 0, "a factor that is not a number is accepted", 0, -1);
	spec.factors = tiny;
	compare(rope_open(&r, &spec, 1, 64, &w) < 0, "a frequency past the range of the reduction is accepted", 0, -1);
}

int main(void)
{
	functions();
	frequencies();
	frozen();
	refusals();
	return check_end("rope");
}
