/* quantise_rule: the constants of the activations' quantisation and rounding, which every table of kernels shares. */
#ifndef QUANTISE_RULE_H
#define QUANTISE_RULE_H

/* A block whose largest magnitude is below this becomes zeros, so that no reciprocal overflows. */
#define ACTS_LEAST 0x1p-100f

/* Smaller magnitudes count as zero, of activations rounded to BF16 and of BF16 weights (kernels.h). */
#define BF16_ACTS_LEAST 0x1p-49f
#define BF16_WEIGHTS_LEAST 0x1p-63f

enum { ACTS_STEPS = 8 };        /* candidates max/127, max/126, … for the step of a block */

/* (127 / (127 − i))²: what a squared error in units of candidate i's step weighs in units of the first's. */
static const float acts_step_square[ACTS_STEPS] = {
#define SQUARE(i) 127.0f * 127.0f / ((127.0f - i) * (127.0f - i))
	SQUARE(0), SQUARE(1), SQUARE(2), SQUARE(3), SQUARE(4), SQUARE(5), SQUARE(6), SQUARE(7)
#undef SQUARE
};

#endif
