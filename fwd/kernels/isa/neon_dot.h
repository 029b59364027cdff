/* neon_dot: vd_dot_4() of dotprod.c and i8mm.c. */
#ifndef NEON_DOT_H
#define NEON_DOT_H

static inline int32x4_t vd_dot_4(int32x4_t s, int8x16_t w, int8x16_t x) { return vdotq_s32(s, w, x); }

#endif
