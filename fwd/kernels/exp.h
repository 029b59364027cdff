/* exp: e^x for the kernels, and silu, tanh and gelu, which are made of it; defined by fma, additions, multiplications
 * and powers of two alone, so that every machine and every vector unit gives the same bits. This code is the
 * definition: elementwise.h says the same in sixteen lanes. (lib/base/fmath.h has one of its own for the sampler,
 * which does without fma and takes x <= 0 only.) */
#ifndef EXP_H
#define EXP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* e^x = 2^n · e^r, n = x/ln 2 rounded to nearest even, |r| <= ln(2)/2. The polynomial is the minimax one of degree
 * 6 (relative error below 2e-8); the whole is within 1 unit in the last place. */
#define EXP_LOG2E 0x1.715476p+0f
#define EXP_LN2_HIGH 0x1.62e43p-1f      /* ln 2 to 24 bits, and what is missing */
#define EXP_LN2_LOW -0x1.05c61p-29f
#define EXP_C2 0x1.fffffap-2f
#define EXP_C3 0x1.55540ap-3f
#define EXP_C4 0x1.55589cp-5f
#define EXP_C5 0x1.126d64p-7f
#define EXP_C6 0x1.6ab928p-10f
#define EXP_ROUND 0x1.8p23f             /* adding it and taking it off again rounds to an integer */
#define EXP_LOW -0x1.5d589ep+6f         /* below it e^x is 0: results are normal numbers or zero */
#define EXP_HIGH 89.0f                  /* from 88.73 on e^x is infinite */

/* x · 2^n for an integral n in [-126, 128]: by two factors, as 2^128 is no float */
static inline float exp_scale(float x, float n)
{
	int32_t whole = (int32_t)n, half = (whole + 126) / 2 - 63;
	uint32_t bits[2] = { (uint32_t)(half + 127) << 23, (uint32_t)(whole - half + 127) << 23 };
	float factor[2];

	memcpy(factor, bits, sizeof factor);
	return x * factor[0] * factor[1];
}

/* e^x; 0 from -inf to where it would be denormal; NaN for NaN */
static inline float exp_of(float x)
{
	float n, r, p;

	if (x != x)
		return x;
	if (x < EXP_LOW)
		return 0;
	if (x > EXP_HIGH)
		x = EXP_HIGH;
	n = fmaf(x, EXP_LOG2E, EXP_ROUND) - EXP_ROUND;
	r = fmaf(n, -EXP_LN2_HIGH, x);
	r = fmaf(n, -EXP_LN2_LOW, r);
	p = fmaf(EXP_C6, r, EXP_C5);
	p = fmaf(p, r, EXP_C4);
	p = fmaf(p, r, EXP_C3);
	p = fmaf(p, r, EXP_C2);
	p = fmaf(p, r, 1);
	p = fmaf(p, r, 1);
	return exp_scale(p, n);
}

static inline float exp_sigmoid(float x)
{
	return 1 / (1 + exp_of(-x));
}

/* x / (1 + e^-x) */
static inline float exp_silu(float x)
{
	return x / (1 + exp_of(-x));
}

static inline float exp_tanh(float x)
{
	return 1 - 2 / (1 + exp_of(2 * x));
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + z), z = e^-|x|; ln(1 + z) = 2 artanh s = 2s + s·u·p(u), s = z / (2 + z), u = s² up
 * to 1/9. The polynomial is the one through the Chebyshev nodes. */
#define SOFTPLUS_C0 0x1.555556p-1f
#define SOFTPLUS_C1 0x1.9998d4p-2f
#define SOFTPLUS_C2 0x1.24c926p-2f
#define SOFTPLUS_C3 0x1.bc8cfap-3f
#define SOFTPLUS_C4 0x1.dba25ep-3f

static inline float exp_softplus(float x)
{
	float z = exp_of(-fabsf(x)), s = z / (2 + z), u = s * s, p = fmaf(SOFTPLUS_C4, u, SOFTPLUS_C3);

	p = fmaf(p, u, SOFTPLUS_C2);
	p = fmaf(p, u, SOFTPLUS_C1);
	p = fmaf(p, u, SOFTPLUS_C0);
	return (x > 0 ? x : 0) + fmaf(s * u, p, 2 * s);
}

/* The tanh form of gelu, x/2 · (1 + tanh u) with u = sqrt(2/pi)·(x + 0.044715·x^3), written as x / (1 + e^-2u) */
#define EXP_GELU_1 -0x1.988454p+0f      /* -2·sqrt(2/pi) */
#define EXP_GELU_3 -0x1.2444f2p-4f      /* and that times 0.044715 */

static inline float exp_gelu(float x)
{
	return x / (1 + exp_of(x * fmaf(x * x, EXP_GELU_3, EXP_GELU_1)));
}

/* The gated unit of gpt-oss: g · sigmoid(1.702 g) · (u + 1) with g at most 7 and u from -7 to 7. */
#define EXP_OAI_SLOPE 1.702f
#define EXP_OAI_MOST 7.0f

static inline float exp_glu_oai(float gate, float up)
{
	float g = gate < EXP_OAI_MOST ? gate : EXP_OAI_MOST;
	float u = up > -EXP_OAI_MOST ? up : -EXP_OAI_MOST;

	u = u < EXP_OAI_MOST ? u : EXP_OAI_MOST;
	return g / (1 + exp_of(-EXP_OAI_SLOPE * g)) * (u + 1);
}

#endif
