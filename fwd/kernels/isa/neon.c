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

enum { VALUE_BIAS = 0 };

static inline attend_codes va_values(b64 v) { return v; }

static inline int32x4_t va_dot_4(int32x4_t s, uint8x16_t v, uint8x16_t x)
{
	int16x8_t p = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x)));  /* the same four twice */
	int16x8_t a = vmovl_s8(vget_low_s8(vreinterpretq_s8_u8(v))), b = vmovl_high_s8(vreinterpretq_s8_u8(v));
	int32x4_t first = vpaddq_s32(vmull_s16(vget_low_s16(a), vget_low_s16(p)), vmull_high_s16(a, p));
	int32x4_t second = vpaddq_s32(vmull_s16(vget_low_s16(b), vget_low_s16(p)), vmull_high_s16(b, p));

	return vaddq_s32(s, vpaddq_s32(first, second));
}

#include "neon_fours.h"
#include KERNELS
#endif
