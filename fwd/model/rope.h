/* rope: rotary position embedding (Su et al. 2021): the frequencies of a model's pairs, with linear scaling (position
 * interpolation; Chen et al. 2023), YaRN (Peng et al. 2023) or factors from the file, and the cosines and sines of a
 * batch's positions. They are computed in double with our own exp, sin and cos and rounded once, so that every machine
 * has the same floats. The rotation itself is a kernel. */
#ifndef ROPE_H
#define ROPE_H

#include <stddef.h>

#include "lib/base/why.h"

enum rope_scaling { ROPE_PLAIN, ROPE_LINEAR, ROPE_YARN };

struct rope_spec {
	size_t n_rot;                   /* elements of a head that rotate: even */
	double base;                    /* pair i rotates by base^(-2i/n_rot) radians per position; above 1 */
	const float *factors;           /* [n_rot/2], divisors of the frequencies, read by rope_open(); or NULL */
	const float *factors_long;      /* the same for contexts longer than n_ctx_orig; NULL: factors */
	enum rope_scaling scaling;
	double factor;                  /* by which the context is extended */
	double n_ctx_orig;              /* YaRN: the context before that */
	double beta_fast, beta_slow;    /* YaRN: a pair that makes more turns than beta_fast over */
					/* n_ctx_orig keeps its frequency; below beta_slow, it is fully scaled */
	double kept;                    /* YaRN: how much of their frequency the fastest pairs keep: usually 1 */
	double attn_factor;             /* factor of cosines and sines, on top of YaRN's own 1 + 0.1·ln factor */
};

struct rope {
	const struct rope_spec *spec;
	struct rope *next;              /* in the owner's list */
	size_t every;                   /* this many consecutive positions share the angle of the first: usually 1 */
	size_t pairs;                   /* n_rot/2 */
	double *freq;                   /* [pairs], radians per position */
	double magnitude;
	float *cos, *sin;               /* [room][pairs] */
};

enum { ROPE_ANGLE_MAX = 1 << 30 };      /* radians: argument reduction is exact up to here */

/* Sets all members but `next` and `every`, which the caller sets. room: the number of rows of cos and sin. n_ctx: the
 * context; all angles in it must stay within ROPE_ANGLE_MAX. Returns -1 with a reason if they do not, or if memory is
 * short. */
int rope_open(struct rope *r, const struct rope_spec *spec, size_t room, size_t n_ctx, struct why *w);
void rope_close(struct rope *r);

/* The factors to use for this context: factors or factors_long. */
const float *rope_factors(const struct rope_spec *spec, size_t n_ctx);

/* Fills row `row` of cos and sin for position pos. */
void rope_position(struct rope *r, size_t row, size_t pos);

/* sin x and cos x for 0 <= x <= ROPE_ANGLE_MAX, with an error below 2 ulp of 1. */
void rope_sincos(double x, double *sine, double *cosine);

#endif
