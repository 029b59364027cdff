/* rope: rotary position embedding (Su et al. 2021): the frequencies of a model's pairs, with position interpolation
 * (linear scaling; Chen et al. 2023), YaRN (Peng et al. 2023) or factors from the file, and the cosines and sines of a
 * batch's positions. Computed in double with our own exp, sin and cos, and rounded once, so that every machine has the
 * same floats. The rotation itself is a kernel. */
#ifndef ROPE_H
#define ROPE_H

#include <stddef.h>

#include "lib/base/why.h"

enum rope_scaling { ROPE_PLAIN, ROPE_LINEAR, ROPE_YARN };

struct rope_spec {
	size_t n_rot;                   /* dimensions that rotate: even */
	double base;                    /* above 1: pair i turns by base^(-2i/n_rot) radians a position */
	const float *factors;           /* [n_rot/2], which divide the frequencies; or NULL; read by rope_open() */
	const float *factors_long;      /* the same for contexts longer than n_ctx_orig; NULL: factors */
	enum rope_scaling scaling;
	double factor;                  /* by which the context is stretched */
	double n_ctx_orig;              /* YaRN: context before that */
	double beta_fast, beta_slow;    /* YaRN: turns over n_ctx_orig above which a pair keeps its frequency, */
					/* below which it is stretched in full */
	double kept;                    /* YaRN: of their frequency, by the fastest pairs: usually 1 */
	double attn_factor;             /* multiplies cosines and sines, besides YaRN's own 1 + 0.1·ln factor */
};

struct rope {
	const struct rope_spec *spec;
	struct rope *next;              /* the owner's */
	size_t every;                   /* so many positions turn like the first of them: usually 1 */
	size_t pairs;                   /* n_rot/2 */
	double *freq;                   /* [pairs], radians a position */
	double magnitude;
	float *cos, *sin;               /* [room][pairs] */
};

enum { ROPE_ANGLE_MAX = 1 << 30 };      /* radians: the reduction is exact up to here */

/* Sets all but `next`. room: positions at a time; n_ctx: every position is below it, and the angles there must stay
 * within ROPE_ANGLE_MAX. */
int rope_open(struct rope *r, const struct rope_spec *spec, size_t room, size_t n_ctx, struct why *w);
void rope_close(struct rope *r);

/* The factors for this context. */
const float *rope_factors(const struct rope_spec *spec, size_t n_ctx);

/* Row `row` of cos and sin, for this position. */
void rope_position(struct rope *r, size_t row, size_t pos);

/* sin x and cos x for 0 <= x <= ROPE_ANGLE_MAX, within 2 units in the last place of 1; e^x for -700 <= x <= 700,
 * within 4. */
void rope_sincos(double x, double *sine, double *cosine);
double rope_exp(double x);

#endif
