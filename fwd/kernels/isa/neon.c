/* neon: compiles one file of simd/ for every aarch64. The Makefile compiles this file once for each and names it in
 * KERNELS. Empty on other architectures. */
#include "fwd/kernels/kernels.h"

#if defined __aarch64__
#define ISA neon
#include "neon.h"

/* Sums of two products fit in 16 bits, as no activation is below -127. */
static inline int32x4_t vd_dot_4(int32x4_t s, int8x16_t w, int8x16_t x)
{
	return vpadalq_s16(s, vpaddq_s16(vmull_s8(vget_low_s8(w), vget_low_s8(x)), vmull_high_s8(w, x)));
}

#include "neon_fours.h"
#include KERNELS
#endif
