/* neon_dot: the products of bytes that dotprod.c and i8mm.c share. */
#ifndef NEON_DOT_H
#define NEON_DOT_H

static inline int32x4_t vd_dot_4(int32x4_t s, int8x16_t w, int8x16_t x) { return vdotq_s32(s, w, x); }

enum { VALUE_BIAS = 128 };

static inline attend_codes va_values(b64 v) { return vb_add(v, VALUE_BIAS); }

static inline int32x4_t va_dot_4(int32x4_t s, uint8x16_t v, uint8x16_t x)
{
	return vreinterpretq_s32_u32(vdotq_u32(vreinterpretq_u32_s32(s), v, x));
}

#endif
